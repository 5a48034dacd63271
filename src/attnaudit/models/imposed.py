"""A model that must use attention given to it, instead of its own: is the attention needed, and whose is best?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn

from attnaudit.core import masking, simplex
from attnaudit.core.contract import AttentionModel, Batch, Record

Source = Callable[[Batch, Tensor], Tensor]  # (batch, mask (B,R,N)) -> alpha (B,R,N)


class Imposed(nn.Module):
    """Reads as `inner` reads, but the attention comes from `source` and nothing is learnt about it."""

    def __init__(self, inner: nn.Module, source: Source) -> None:
        super().__init__()
        self.inner, self.source = inner, source

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        record: Record = self.inner.read(batch, embeddings)  # type: ignore[operator]
        alpha = self.source(batch, record.mask).to(record.alpha)
        return replace(record, alpha=alpha, logits=self.decode(record, alpha))

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        return self.inner.decode(record, alpha)  # type: ignore[operator]


def uniform(batch: Batch, mask: Tensor) -> Tensor:
    return masking.uniform(mask, torch.float64)


def at_random(seed: int) -> Source:
    """Weights drawn once for each example, evenly over the simplex, whatever the batch."""

    def source(batch: Batch, mask: Tensor) -> Tensor:
        return simplex.random_alpha_by_example(mask, seed, "imposed", batch.example_id)

    return source


class OfModel:
    """The attention another model has on the same text. Not a module, so that the other is neither trained nor saved."""

    def __init__(self, other: AttentionModel) -> None:
        self.other = other

    def __call__(self, batch: Batch, mask: Tensor) -> Tensor:
        with torch.no_grad():
            return self.other.read(batch).alpha
