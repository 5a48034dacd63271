"""Sums over tokens: of the span of the answer that is asked about, and of items."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.data.citations import CitationBatch
from attnaudit.models.huggingface.generation.prompt_batches import required


def one_hot(item: Tensor, count: int) -> Tensor:
    """(B,T) items -> (B,T,N), 0 for tokens of no item."""
    return (item[..., None] == torch.arange(count, device=item.device)).float()


def mean_of_span(per_token: Tensor, batch: CitationBatch) -> Tensor:
    """The mean (B,) of what each token of the answer has (B,A), over those asked about."""
    target = required(batch.target) & required(batch.answer_mask)
    return (per_token * target).sum(-1) / target.sum(-1)


def over_span(per_token: Tensor, target: Tensor) -> Tensor:
    """The mean of (B,…,A,N) over the answer's tokens that are asked about: (B,…,N)."""
    weight = target.to(per_token.dtype) / target.sum(-1, keepdim=True)
    while weight.dim() < per_token.dim() - 1:
        weight = weight[:, None]
    return (per_token * weight[..., None]).sum(-2)
