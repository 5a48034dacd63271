"""The model that `attnaudit check` is given, with a batch to try it on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import nn

from attnaudit.core import registry
from attnaudit.core.contract import AttentionModel, Batch
from attnaudit.core.errors import InputError
from attnaudit.data.random_texts import random_batch
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.training.checkpoint import load

_TEXTS = (
    "The film was good, and we liked it very much.",
    "A dull film.",
    "Not good at all, but short.",
)


def find_target(target: str, seed: int) -> tuple[AttentionModel, Batch]:
    """The model and the batch of a target.

    Parameters
    ----------
    target : a run directory, the folder of a saved Hugging Face classifier, glass:KIND, or
        package.module:name of a model or of a function that returns (model, batch).

    Examples
    --------
    >>> model, batch = find_target("glass:oracle", seed=0)
    >>> type(model).__name__
    'Glass'
    """
    if target.startswith("glass:"):
        kind = target.removeprefix("glass:")
        model: Any = Glass(kind)  # type: ignore[arg-type]  # Glass rejects unknown kinds
        return model, glass_batch(seed=seed)
    folder = Path(target)
    if folder.is_dir() and (folder / "config.json").is_file():
        from attnaudit.models.huggingface import from_huggingface

        classifier = from_huggingface(folder)
        return classifier, classifier.batches(_TEXTS)[0]
    if folder.is_dir():
        run = load(target)
        with_query = run.results.about["run"]["model"]["with_query"]
        return run.model, random_batch(words=len(run.vocabulary), with_query=with_query, seed=seed)
    if ":" not in target:
        raise InputError(
            f"{target!r} is not a run directory. Give one, glass:oracle, or package.module:name of "
            "a model in your own code."
        )
    target_value = _call_if_factory(target, registry.imported(target, "model"))
    model, batch = target_value if isinstance(target_value, tuple) else (target_value, None)
    if not isinstance(model, AttentionModel):
        raise InputError(
            f"{target} is not a model: expected an object with the methods "
            "read(batch, embeddings=None) and decode(record, alpha), or a function that returns "
            f"(model, batch); got {type(model).__name__}."
        )
    if batch is None:
        words = getattr(model, "vocabulary_size", None) or 50
        batch = random_batch(words=words, with_query=False, seed=seed)
    return model, batch


def _call_if_factory(target: str, imported: Any) -> Any:
    """A model as it is; of a function or class, what it returns."""
    if isinstance(imported, AttentionModel) and not isinstance(imported, type):
        return imported
    if isinstance(imported, nn.Module):
        raise InputError(
            f"{target} is a torch module without read and decode. Give what "
            "attnaudit.from_hooks(model, alpha=…, embedding=…) returns, a function that returns "
            "that, or a class of your own (docs/contract.md)."
        )
    try:
        return imported() if callable(imported) else imported
    except TypeError as error:
        raise InputError(
            f"{target} cannot be called without arguments ({error}). Give a model, or a function "
            "that returns (model, batch)."
        ) from error
