"""Softmax: every item gets a positive weight."""

from __future__ import annotations

from torch import Tensor, nn

from attnaudit.core import masking


class Softmax(nn.Module):
    """exp(scores), normalised."""

    def forward(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Project scores (B,N) within mask (B,N)."""
        return masking.softmax(scores, mask)
