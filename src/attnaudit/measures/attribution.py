"""What Captum's methods are given, and what becomes of their answer: the same for all of them.

They explain p, the probability of the predicted class among the candidates, as a function of the embeddings, attention left on.
Removed means: the embeddings of the item are 0, its place stays. Tokens that belong to no item that counts (padding, start, end) are
never removed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from attnaudit.core import masking, randomness
from attnaudit.core.contract import AttentionModel, Batch, Record

TOKENS_AT_ONCE = 2**15

Explained = Callable[[Tensor, Tensor], Tensor]  # (embeddings (M,T,E), examples (M,)) -> (M,)


def probability(model: AttentionModel, record: Record) -> Explained:
    """p(predicted class) of the examples named by number, each with embeddings of its own."""

    def explained(embeddings: Tensor, examples: Tensor) -> Tensor:
        fresh = model.read(record.batch.rows(examples), embeddings)
        return fresh.probs.gather(1, record.predicted[examples, None])[:, 0]

    return explained


def removable(record: Record) -> Tensor:
    """(B,T) bool: the token belongs to an item that counts."""
    item = record.item_of_token
    return (item >= 0) & record.content.gather(1, item.clamp_min(0))


def baseline(record: Record) -> Tensor:
    """(B,T,E): the embeddings with every item removed."""
    return record.embeddings.detach() * ~removable(record)[..., None]


def to_scores(per_token: Tensor, record: Record, signed: bool) -> Tensor:
    """(B,T) -> (B,N): signed sum over an item's tokens, then the absolute value unless signed; NaN for items that do not count."""
    per_item = record.to_items(per_token.detach())
    return masking.fill(per_item if signed else per_item.abs(), record.content, torch.nan)


@dataclass(frozen=True)
class Single:
    """One text, cut to its own length, as the methods want it that work text by text."""

    record: Record
    feature: Tensor  # (1,T,1) the feature of each token; those that are never removed count as feature 0, which changes nothing
    item: Tensor  # (features,) the item of each

    @property
    def example(self) -> Tensor:
        return torch.zeros(1, dtype=torch.int64, device=self.feature.device)


def singles(record: Record) -> Iterator[tuple[int, Single]]:
    """Each text that has an item, with its place in the batch. What is drawn for it cannot hang on the texts around it."""
    removed = removable(record)
    for at in range(len(record.batch)):
        real = record.batch.mask[at]
        item = record.item_of_token[at, real]
        known, feature = item[removed[at, real]].unique(return_inverse=True)
        if not len(known):
            continue
        place = torch.zeros_like(item)
        place[removed[at, real]] = feature
        yield at, Single(_cut(record, at, real), place[None, :, None], known)


def _cut(record: Record, at: int, real: Tensor) -> Record:
    only = torch.tensor([at], device=real.device)
    batch: Batch = record.batch.rows(only)
    return replace(
        record,
        batch=batch.without(torch.zeros_like(batch.mask)),
        embeddings=record.embeddings[only][:, real],
        item_of_token=record.item_of_token[only][:, real],
        content=record.content[only],
        logits=record.logits[only],
    )


@contextmanager
def drawing(seed: int, measure: str, example_id: str) -> Iterator[None]:
    """Captum draws on the global generators of torch and NumPy: seeded inside by name, and as they were after."""
    number = randomness.derive(seed, measure, example_id)
    before = np.random.get_state()
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(number)
        np.random.seed(number % 2**32)
        try:
            yield
        finally:
            np.random.set_state(before)


@contextmanager
def quietly() -> Iterator[None]:
    """Captum warns of what it does as a matter of course, such as setting hooks."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"captum\.")
        warnings.filterwarnings("ignore", message="Setting forward, backward hooks")
        yield
