"""Uniform: the same weight for every item, the baseline of Wiegreffe & Pinter (2019)."""

from __future__ import annotations

from torch import Tensor, nn

from attnaudit.core import masking


class Uniform(nn.Module):
    """1/N, whatever the scores."""

    def forward(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Return uniform weights within mask (B,N)."""
        return masking.uniform(mask, scores.dtype)
