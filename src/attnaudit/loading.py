"""A finished run back from its folder: the model, the results, and the batches it was audited on."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import load_file

from attnaudit import choices, datasets, store
from attnaudit.batching import batches_of
from attnaudit.datasets.reading.fingerprint import fingerprint
from attnaudit.errors import InputError
from attnaudit.models import Architecture, build
from attnaudit.results import Results
from attnaudit.sampling import sampled
from attnaudit.variants import Setting, make_training
from attnaudit.vocabulary import Vocabulary


class Run(NamedTuple):
    """A finished run: the model and what was found of it."""

    model: Any
    results: Results
    vocabulary: Vocabulary
    folder: Path


def load(folder: str | Path, *, trust_code: bool = False) -> Run:
    """The model and the results of a finished run.

    A run may name parts outside the package (package.module:name), and importing one runs its code: only with trust_code=True.
    """
    folder = Path(folder)
    details = store.read_run(folder)
    if "model" not in details:
        raise InputError(f"{folder} holds results without a model; attnaudit.store.load_results reads those.")
    vocabulary = Vocabulary(tuple(json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))))
    chosen = details["choices"]
    named = [*details["model"].values(), chosen["dataset"], chosen["variant"]]
    foreign = [
        str(part) for part in named if ":" in choices.parse(str(part))[0] and not Path(str(part)).is_file()
    ]
    if chosen["base"] is not None and Path(str(chosen["base"])).name != chosen["base"]:
        raise InputError(f"{folder}: the base {chosen['base']!r} is no name of a run in the same folder.")
    if foreign and not trust_code:
        raise InputError(
            f"{folder} is made with code from outside: {', '.join(foreign)}. Loading would run it; "
            "if you trust the run, attnaudit.load(folder, trust_code=True)."
        )
    fresh = build_from(details["model"], vocabulary)
    fresh.load_state_dict(load_file(folder / "model.safetensors"))
    model = fresh
    if choices.parse(chosen["variant"])[0] == "imposed":  # its attention is not among its parameters
        base = (
            None
            if chosen["base"] is None
            else load(folder.parent / chosen["base"], trust_code=trust_code).model
        )
        model = make_training(chosen["variant"], Setting(fresh, base, vocabulary, chosen["seed"])).model
    return Run(model.eval(), store.load_results(folder), vocabulary, folder)


def audited_batches(
    folder: Path, *, data_dir: Path | None = None, trust_code: bool = False
) -> tuple[Any, list[Any]]:
    """The model of a finished run and the batches it was audited on. Data that has changed since is refused."""
    run = load(folder, trust_code=trust_code)
    details = store.read_run(folder)
    splits = datasets.load(details["choices"]["dataset"], data_dir=data_dir)
    if fingerprint(splits) != details["data"]["fingerprint"]:
        raise InputError(
            f"The data of {folder} has changed since it was run. Run it again, or give the old data with --data-dir."
        )
    chosen = sampled(splits.test, details["choices"].get("sample"), details["choices"]["seed"])
    return run.model, batches_of(chosen, run.vocabulary, len(splits.classes))


def build_from(
    made: dict[str, Any], vocabulary: Vocabulary, *, seed: int = 0, vectors: torch.Tensor | None = None
) -> Any:
    """A fresh model from what run.json says of it."""
    names = [field.name for field in fields(Architecture)]
    return build(
        Architecture(**{name: made[name] for name in names}),
        words=len(vocabulary),
        classes=made["classes"],
        with_query=made["with_query"],
        seed=seed,
        vectors=vectors,
    )
