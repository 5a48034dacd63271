"""Which runs are of the same model: they differ only by seed or by what was audited."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from attnaudit.results import store
from attnaudit.results.run_names import distinguishing_choices

# Stored choices that affect what is reported about a trained model, not what was trained.
AUDITED = ("audits", "measures", "sample", "illustrated", "other_seeds")


class Identity(NamedTuple):
    """What a run is of: a model, and one training of it.

    model: equal for runs that differ only by seed or by what was audited. training: equal for runs
    of one trained model. label: readable name of the model. seed: None if the run was not made by
    `attnaudit run`.
    """

    model: str
    training: str
    label: str
    seed: int | None


def identities(folders: Sequence[Path]) -> list[Identity]:
    """The identity of each run, with different labels for different models.

    Results that were not made by `attnaudit run` count as a model of their own.
    """
    identified = [identify(folder) for folder in folders]
    models: dict[str, list[str]] = {}  # label -> the models that have it
    for identity in identified:
        if identity.model not in models.setdefault(identity.label, []):
            models[identity.label].append(identity.model)
    return [
        identity._replace(
            label=f"{identity.label}{_what_differs(identity.model, models[identity.label])}"
        )
        for identity in identified
    ]


def identify(folder: Path) -> Identity:
    """The identity of one run; models of the same label may differ."""
    choices = store.read_run(folder).get("choices", {})
    if not choices:
        place = str(folder.resolve())
        return Identity(place, place, folder.name, None)
    trained = _trained(choices, folder.parent)
    seed = trained.pop("seed")
    label = " · ".join(
        distinguishing_choices({key: value for key, value in choices.items() if key != "seed"})
    )
    model = json.dumps(trained, sort_keys=True)
    return Identity(model, json.dumps([trained, seed], sort_keys=True), label, seed)


def _trained(choices: dict[str, Any], runs: Path) -> dict[str, Any]:
    """The choices that determine what is trained; the base by its model, whatever its seed."""
    trained = {key: value for key, value in choices.items() if key not in AUDITED}
    if trained.get("base") is not None and store.is_complete(runs / trained["base"]):
        trained["base"] = identify(runs / trained["base"]).model
    return trained


def _what_differs(model: str, models: Sequence[str]) -> str:
    """The choices in which a model differs from others of the same label, if there are any."""
    if len(models) < 2:
        return ""
    if not all(other.startswith("{") for other in models):
        return f" · {model}"
    flat = [_flat(json.loads(other)) for other in models]
    own = _flat(json.loads(model))
    keys = sorted({key for choices in flat for key in choices})
    differing = [key for key in keys if len({str(choices.get(key)) for choices in flat}) > 1]
    return "".join(f" · {key}={own.get(key)}" for key in differing)


def _flat(choices: dict[str, Any]) -> dict[str, Any]:
    recipe = choices.get("recipe") or {}
    return {**{key: value for key, value in choices.items() if key != "recipe"}, **recipe}
