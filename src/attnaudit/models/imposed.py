"""A model whose attention weights come from elsewhere: uniform, random or another model's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn

from attnaudit.core import masking, simplex
from attnaudit.core.contract import AttentionModel, Batch, Record

Source = Callable[[Batch, Tensor], Tensor]  # (batch, mask (B,R,N)) -> alpha (B,R,N)


class Imposed(nn.Module):
    """The model `inner` with attention from `source`, which is not trained.

    Parameters
    ----------
    inner : nn.Module
        A model with `read` and `decode`.
    source : callable
        (batch, mask (B,R,N)) -> alpha (B,R,N).

    Examples
    --------
    >>> from attnaudit.models import Architecture, Imposed, build, glass_batch
    >>> from attnaudit.models.imposed import uniform
    >>> architecture = Architecture(encoder="mlp:hidden=4", embedding=4)
    >>> inner = build(architecture, words=50, classes=2, with_query=False)
    >>> Imposed(inner, uniform).read(glass_batch(2)).logits.shape
    torch.Size([2, 2])
    """

    def __init__(self, inner: nn.Module, source: Source) -> None:
        super().__init__()
        self.inner, self.source = inner, source

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        """Read with `inner`, then replace its attention and its logits."""
        record: Record = self.inner.read(batch, embeddings)  # type: ignore[operator]
        alpha = self.source(batch, record.mask).to(record.alpha)
        return replace(record, alpha=alpha, logits=self.decode(record, alpha))

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        """Return the logits of `inner` under other attention."""
        return self.inner.decode(record, alpha)  # type: ignore[operator]

    @property
    def replacement_token(self) -> int | None:
        """That of `inner`."""
        return getattr(self.inner, "replacement_token", None)


def uniform(batch: Batch, mask: Tensor) -> Tensor:
    """Return the same weight for every item of a row."""
    return masking.uniform(mask, torch.float64)


def at_random(seed: int) -> Source:
    """Return a source of random weights, uniform on the simplex and fixed per example."""

    def source(batch: Batch, mask: Tensor) -> Tensor:
        return simplex.random_alpha_by_example(mask, seed, "imposed", batch.example_id)

    return source


class OfModel:
    """The attention of another model on the same text.

    Not a module, so that the other model is neither trained nor saved.
    """

    def __init__(self, other: AttentionModel) -> None:
        self.other = other

    def __call__(self, batch: Batch, mask: Tensor) -> Tensor:
        with torch.no_grad():
            return self.other.read(batch).alpha
