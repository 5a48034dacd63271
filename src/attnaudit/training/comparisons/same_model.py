"""Which runs are of one model: they differ by seed, or by what was audited, and by nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from attnaudit.results import store

# Choices that decide what is reported of a trained model, and not what was trained.
AUDITED = ("audits", "measures", "sample", "illustrated", "other_seeds")


class Identity(NamedTuple):
    """model: the same for runs that differ by seed or by what was audited; training: the same for runs of one trained model."""

    model: str
    training: str
    label: str
    seed: int | None  # None: not made by `attnaudit run`


def identities(folders: Sequence[Path]) -> list[Identity]:
    """Of each run; labels of different models differ. A run of a model made elsewhere is a model of its own."""
    found = [identify(folder) for folder in folders]
    models: dict[str, list[str]] = {}  # label -> the models that have it
    for each in found:
        if each.model not in models.setdefault(each.label, []):
            models[each.label].append(each.model)
    return [
        each._replace(label=f"{each.label}{_what_differs(each.model, models[each.label])}")
        for each in found
    ]


def identify(folder: Path) -> Identity:
    choices = store.read_run(folder).get("choices", {})
    if not choices:
        place = str(folder.resolve())
        return Identity(place, place, folder.name, None)
    trained = _trained(choices, folder.parent)
    seed = trained.pop("seed")
    label = " · ".join(
        store.distinguishing_choices(
            {key: value for key, value in choices.items() if key != "seed"}
        )
    )
    model = json.dumps(trained, sort_keys=True)
    return Identity(model, json.dumps([trained, seed], sort_keys=True), label, seed)


def _trained(choices: dict[str, Any], runs: Path) -> dict[str, Any]:
    """The choices that decide what is trained. A base is named by its run, which names a seed: its model stands for it."""
    trained = {key: value for key, value in choices.items() if key not in AUDITED}
    if trained.get("base") is not None and store.is_complete(runs / trained["base"]):
        trained["base"] = identify(runs / trained["base"]).model
    return trained


def _what_differs(model: str, models: Sequence[str]) -> str:
    """The choices by which a model differs from others of the same label; nothing if it is the only one."""
    if len(models) < 2 or not all(each.startswith("{") for each in models):
        return "" if len(models) < 2 else f" · {model}"
    flat = [_flat(json.loads(each)) for each in models]
    own = _flat(json.loads(model))
    keys = sorted({key for each in flat for key in each})
    differing = [key for key in keys if len({str(each.get(key)) for each in flat}) > 1]
    return "".join(f" · {key}={own.get(key)}" for key in differing)


def _flat(choices: dict[str, Any]) -> dict[str, Any]:
    recipe = choices.get("recipe") or {}
    return {**{key: value for key, value in choices.items() if key != "recipe"}, **recipe}
