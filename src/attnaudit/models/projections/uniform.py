"""Uniform: attention that does not attend, the model to beat (Wiegreffe & Pinter 2019)."""

from __future__ import annotations

from torch import Tensor, nn

from attnaudit.core import masking


class Uniform(nn.Module):
    def forward(self, scores: Tensor, mask: Tensor) -> Tensor:
        return masking.uniform(mask, scores.dtype)
