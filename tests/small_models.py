"""Small models of every kind, with a batch each, and attention to decode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.models import Architecture, build
from attnaudit.models.glass import KINDS, Glass, glass_batch


def small_models() -> list[tuple[AttentionModel, Batch]]:
    small = Architecture(encoder="bilstm:hidden=3", embedding=4)
    attentive = build(small, words=30, classes=3, with_query=False).double().eval()
    with torch.no_grad():
        for parameter in attentive.parameters():
            parameter.normal_(0, 0.7, generator=torch.Generator().manual_seed(parameter.numel()))
    batch = glass_batch(4, shortest=3, longest=6)
    few = replace(batch, tokens=batch.tokens % 30)
    return [*((Glass(kind, dtype=torch.float64), batch) for kind in KINDS), (attentive, few)]


def some_alpha(mask: Tensor, count: int) -> Tensor:
    weight = torch.rand(
        (mask.shape[0], count, *mask.shape[1:]), generator=torch.Generator().manual_seed(0)
    ).double()
    weight = weight * mask[:, None]
    return weight / weight.sum(-1, keepdim=True)


class Wrong:
    """A model whose record is changed before it is handed over."""

    def __init__(self, change: Callable[[Record], Record]) -> None:
        self.change = change

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        return self.change(Glass("oracle").read(batch, embeddings))

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        return Glass("oracle").decode(record, alpha)
