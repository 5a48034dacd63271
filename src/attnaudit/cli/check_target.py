"""What `attnaudit check` is pointed at: a model and a batch to try it on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

from attnaudit.core import randomness, registry
from attnaudit.core.contract import AttentionModel, Batch
from attnaudit.core.errors import InputError
from attnaudit.core.special_tokens import END, START
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.training.checkpoint import load

_TEXTS = (
    "The film was good, and we liked it very much.",
    "A dull film.",
    "Not good at all, but short.",
)


def find_target(target: str, seed: int) -> tuple[AttentionModel, Batch]:
    """A run directory, the folder of a saved Hugging Face classifier, glass:KIND, or package.module:name: a model, or a function that returns
    (model, batch)."""
    if target.startswith("glass:"):
        kind = target.removeprefix("glass:")
        return Glass(kind), glass_batch(seed=seed)  # type: ignore[arg-type]  # Glass refuses what it does not know
    folder = Path(target)
    if folder.is_dir() and (folder / "config.json").is_file():
        from attnaudit.models.huggingface import from_huggingface

        hugging = from_huggingface(folder)
        return hugging, hugging.batches(_TEXTS)[0]
    if folder.is_dir():
        run = load(target)
        queried = run.results.about["run"]["model"]["with_query"]
        return run.model, random_batch(words=len(run.vocabulary), with_query=queried, seed=seed)
    if ":" not in target:
        raise InputError(
            f"{target!r} is no run directory. Give one, glass:oracle, or package.module:name of a model in your own code."
        )
    found = registry.imported(target, "model")
    made = _made(target, found)
    model, batch = made if isinstance(made, tuple) else (made, None)
    if not isinstance(model, AttentionModel):
        raise InputError(
            f"{target} is no model: expected an object with the methods read(batch, embeddings=None) and decode(record, alpha), "
            f"or a function that returns (model, batch); got {type(model).__name__}."
        )
    if batch is None:
        words = getattr(model, "vocabulary_size", None) or 50  # a model may say how many it knows
        batch = random_batch(words=words, with_query=False, seed=seed)
    return model, batch


def _made(target: str, found: Any) -> Any:
    if isinstance(found, AttentionModel) and not isinstance(found, type):
        return found
    if isinstance(found, nn.Module):
        raise InputError(
            f"{target} is a torch module without read and decode. Name what attnaudit.from_hooks(model, alpha=…, embedding=…) makes "
            "of it, a function that returns that, or a class of your own (docs/contract.md)."
        )
    try:
        return found() if callable(found) else found
    except TypeError as error:
        raise InputError(
            f"{target} cannot be called without arguments ({error}). Name a model, or a function that returns (model, batch)."
        ) from error


def random_batch(*, words: int, with_query: bool, seed: int, examples: int = 6) -> Batch:
    """Texts of random words and different lengths, between start and end marks."""
    draw = randomness.generator(seed, "random batch")
    lengths = torch.randint(4, 14, (examples,), generator=draw)
    tokens, mask = _texts(lengths, words, draw)
    query = _texts(lengths // 2 + 2, words, draw) if with_query else (None, None)
    names = tuple(f"random/{at}" for at in range(examples))
    sentences = torch.arange(tokens.shape[1]).expand_as(tokens) // 4 * mask
    return Batch(names, tokens, mask, query[0], query[1], segments=sentences)


def _texts(
    lengths: torch.Tensor, words: int, draw: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    place = torch.arange(int(lengths.max()))
    mask = place < lengths[:, None]
    tokens = torch.randint(END + 1, words, mask.shape, generator=draw)
    tokens[:, 0] = START
    tokens = tokens.where(place != lengths[:, None] - 1, END)
    return tokens * mask, mask
