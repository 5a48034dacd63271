"""Read a finished run back: the model, the results, and the batches it was audited on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file

from attnaudit import data
from attnaudit.core import registry
from attnaudit.core.errors import InputError
from attnaudit.data.batching import batches_of
from attnaudit.data.reading.fingerprint import fingerprint
from attnaudit.data.sampling import sampled
from attnaudit.data.text_file import file_choice
from attnaudit.data.vocabulary import Vocabulary
from attnaudit.models import Architecture, build
from attnaudit.results import store
from attnaudit.results.checksums import check_files
from attnaudit.results.results import Results
from attnaudit.training.variants import VariantContext, make_training


class Run(NamedTuple):
    """A finished run: the model, its results and vocabulary, and where it is stored."""

    model: Any
    results: Results
    vocabulary: Vocabulary
    folder: Path


def load(folder: str | Path, *, trust_code: bool = False) -> Run:
    """Load the model and the results of a finished run.

    Parameters
    ----------
    folder : run directory, as `attnaudit run` writes it.
    trust_code : allow parts from outside the package (package.module:name). Importing one runs
        its code, so such runs are rejected by default.

    Examples
    --------
    >>> finished = load("runs/babi")  # doctest: +SKIP
    >>> finished.model, finished.results.card()  # doctest: +SKIP
    """
    folder = Path(folder)
    details = store.read_run(folder)
    if "model" not in details or "choices" not in details:
        raise InputError(
            f"{folder} holds results without a model. Read them with "
            "attnaudit.results.load_results."
        )
    chosen = details["choices"]
    if chosen["base"] is not None and Path(chosen["base"]).name != chosen["base"]:
        raise InputError(
            f"{folder}: the base {chosen['base']!r} is not the name of a run in the same folder."
        )
    foreign = foreign_code(details)
    if foreign and not trust_code:
        raise InputError(
            f"{folder} uses code from outside: {', '.join(foreign)}. Loading would run "
            "it. If you trust the run: attnaudit.load(folder, trust_code=True)."
        )
    check_files(folder, details, ("vocabulary.json", "model.safetensors"))
    vocabulary = _read_vocabulary(folder / "vocabulary.json")
    weights = folder / "model.safetensors"
    _check_shapes(details["model"], vocabulary, weights)
    fresh = build_from(details["model"], vocabulary)
    fill(fresh, weights)
    model = fresh
    # Imposed attention is not among the parameters.
    if registry.parse(chosen["variant"])[0] == "imposed":
        base = None
        if chosen["base"] is not None:
            base = load(folder.parent / chosen["base"], trust_code=trust_code).model
        context = VariantContext(fresh, base, vocabulary, chosen["seed"])
        model = make_training(chosen["variant"], context).model
    return Run(model.eval(), store.load_results(folder), vocabulary, folder)


def foreign_code(details: dict[str, Any]) -> list[str]:
    """Parts named package.module:name, which would be imported. A dataset may also be a path."""
    named = [*details["model"].values(), details["choices"]["variant"]]
    if file_choice(details["choices"]["dataset"], data.DATASETS) is None:
        named.append(details["choices"]["dataset"])
    return [str(part) for part in named if ":" in registry.parse(str(part))[0]]


def _read_vocabulary(path: Path) -> Vocabulary:
    try:
        words = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"{path} cannot be read ({str(error)[:200]}). Run it again with --force."
        ) from error
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise InputError(f"{path} is damaged: expected a list of words. Run it again with --force.")
    return Vocabulary(tuple(words))


def _check_shapes(details: dict[str, Any], vocabulary: Vocabulary, path: Path) -> None:
    """Reject weights that do not fit the model of run.json, before allocating memory for it."""
    try:
        with torch.device("meta"):
            expected = {
                name: list(value.shape)
                for name, value in build_from(details, vocabulary).state_dict().items()
            }
        with safe_open(path, framework="pt") as stored:
            names = list(stored.keys())
            shapes = {name: list(stored.get_slice(name).get_shape()) for name in names}
    except (SafetensorError, OSError, RuntimeError, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{path} cannot be read ({str(error)[:200]}). Run it again with --force."
        ) from error
    wrong = [name for name in {*expected, *shapes} if expected.get(name) != shapes.get(name)]
    if wrong:
        raise InputError(
            f"{path} does not hold the model that {store.RUN} describes: {min(wrong)} has shape "
            f"{shapes.get(min(wrong))}, expected {expected.get(min(wrong))}. "
            "Run it again with --force."
        )


def fill(model: torch.nn.Module, path: Path) -> None:
    """Load the stored weights into a fresh model: all of them, or none and an InputError."""
    try:
        fill_whole(model, load_file(path))
    except (SafetensorError, OSError, RuntimeError, ValueError, KeyError) as error:
        raise InputError(
            f"{path} is damaged or belongs to another model ({str(error)[:200]}). "
            "Run it again with --force."
        ) from error


def fill_whole(model: torch.nn.Module, weights: Mapping[str, torch.Tensor]) -> None:
    """Load weights into a model; a ValueError, before anything is copied, if they do not fit.

    `load_state_dict` copies what fits before it raises, which would leave a model half trained.
    """
    wanted = {name: value.shape for name, value in model.state_dict().items()}
    given = {name: value.shape for name, value in weights.items()}
    if wanted != given:
        differing = min(name for name, _ in wanted.items() ^ given.items())
        raise ValueError(f"{differing}: {given.get(differing)} instead of {wanted.get(differing)}")
    model.load_state_dict(weights)


def audited_batches(
    folder: Path, *, data_dir: Path | None = None, trust_code: bool = False
) -> tuple[Any, list[Any]]:
    """The model of a finished run and the batches it was audited on; changed data is rejected."""
    run = load(folder, trust_code=trust_code)
    details = store.read_run(folder)
    splits = data.load(_located(details["choices"]["dataset"], data_dir), data_dir=data_dir)
    if fingerprint(splits) != details["data"]["fingerprint"]:
        raise InputError(
            f"The data of {folder} has changed since it was run. Run it again, or give the old "
            "data with --data-dir."
        )
    chosen = sampled(splits.test, details["choices"].get("sample"), details["choices"]["seed"])
    return run.model, batches_of(chosen, run.vocabulary, len(splits.classes))


def _located(choice: str, data_dir: Path | None) -> str:
    """The choice with a user's file, stored without its folder, found here or in `data_dir`."""
    name, options = data.parse_choice(choice)
    if name != "text_file" or data_dir is None:
        return choice
    for key in ("path", "dev", "test"):
        if key not in options or Path(options[key]).is_file():
            continue
        if (Path(data_dir) / options[key]).is_file():
            options[key] = str(Path(data_dir) / options[key])
    return registry.render(name, options)


def build_from(
    details: dict[str, Any],
    vocabulary: Vocabulary,
    *,
    seed: int = 0,
    vectors: torch.Tensor | None = None,
) -> Any:
    """A fresh model from the entry "model" of run.json."""
    names = [field.name for field in fields(Architecture)]
    return build(
        Architecture(**{name: details[name] for name in names}),
        words=len(vocabulary),
        classes=details["classes"],
        with_query=details["with_query"],
        seed=seed,
        vectors=vectors,
    )
