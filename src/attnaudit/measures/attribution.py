"""What Captum's methods share: what they explain, what removing an item means, and the scores.

They explain p, the probability of the predicted class among the candidates, as a function of the
embeddings, with attention on the graph. Removing an item sets its embeddings to 0; its position
stays. Tokens of no counted item (padding, start, end) are never removed.
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

Explained = Callable[[Tensor, Tensor], Tensor]  # (embeddings (M,T,E), examples (M,)) -> (M,)


def probability(model: AttentionModel, record: Record) -> Explained:
    """p(predicted class) of the examples given by index, each with its own embeddings."""

    def explained(embeddings: Tensor, examples: Tensor) -> Tensor:
        fresh = model.read(record.batch.rows(examples), embeddings)
        return fresh.probs.gather(1, record.predicted[examples, None])[:, 0]

    return explained


def removable(record: Record) -> Tensor:
    """Whether each token (B,T) belongs to an item that counts."""
    item = record.item_of_token
    return (item >= 0) & record.content.gather(1, item.clamp_min(0))


def baseline(record: Record) -> Tensor:
    """The embeddings (B,T,E) with every item removed."""
    return record.embeddings.detach() * ~removable(record)[..., None]


def to_scores(per_token: Tensor, record: Record, signed: bool) -> Tensor:
    """per_token (B,T) summed over each item (B,N); NaN for items that do not count."""
    per_item = record.to_items(per_token.detach())
    return masking.fill(per_item if signed else per_item.abs(), record.content, torch.nan)


@dataclass(frozen=True)
class Single:
    """One text without padding, for methods that explain texts one by one."""

    record: Record
    # (1,T,1) the feature of each token. Tokens that are never removed belong to feature 0, which
    # has no effect: their embeddings are the same in the baseline.
    feature: Tensor
    item: Tensor  # (features,) the item of each feature

    @property
    def example(self) -> Tensor:
        """Its index in its own record (1,)."""
        return torch.zeros(1, dtype=torch.int64, device=self.feature.device)


def singles(record: Record) -> Iterator[tuple[int, Single]]:
    """Each text that has an item, with its index in the batch."""
    removed = removable(record)
    for index in range(len(record.batch)):
        real = record.batch.mask[index]
        item = record.item_of_token[index, real]
        known, feature = item[removed[index, real]].unique(return_inverse=True)
        if not len(known):
            continue
        place = torch.zeros_like(item)
        place[removed[index, real]] = feature
        yield index, Single(_without_padding(record, index, real), place[None, :, None], known)


def _without_padding(record: Record, index: int, real: Tensor) -> Record:
    only = torch.tensor([index], device=real.device)
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
    """Seed the global generators of torch and NumPy, which Captum uses; restore them afterwards."""
    derived = randomness.derive(seed, measure, example_id)
    before = np.random.get_state()
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(derived)
        np.random.seed(derived % 2**32)
        try:
            yield
        finally:
            np.random.set_state(before)


@contextmanager
def quietly() -> Iterator[None]:
    """Suppress Captum's warnings about what it always does, such as setting hooks."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"captum\.")
        warnings.filterwarnings("ignore", message="Setting forward, backward hooks")
        yield
