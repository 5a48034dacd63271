"""Softmax: every item gets some weight."""

from __future__ import annotations

from torch import Tensor, nn

from attnaudit.core import masking


class Softmax(nn.Module):
    def forward(self, scores: Tensor, mask: Tensor) -> Tensor:
        return masking.softmax(scores, mask)
