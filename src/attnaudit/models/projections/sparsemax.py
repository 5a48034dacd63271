"""Sparsemax: the nearest point of the simplex, often on its edge, so that many weights are exactly 0 (Martins & Astudillo 2016)."""

from __future__ import annotations

import entmax
import torch
from torch import Tensor, nn

from attnaudit.core import masking


class Sparsemax(nn.Module):
    """argmin ‖p - scores‖² over the simplex."""

    def forward(self, scores: Tensor, mask: Tensor) -> Tensor:
        return masking.fill(entmax.sparsemax(far_below(scores, mask), dim=-1), mask)


def far_below(scores: Tensor, mask: Tensor) -> Tensor:
    """scores with the masked ones so far below the rest that no sparse projection gives them weight, and still finite."""
    # Relative to the real scores: a fixed -1e9 would swallow their digits when the library sums them up in float32.
    real = masking.fill(scores, mask)
    spread = (real.amax(-1, keepdim=True) - real.amin(-1, keepdim=True)).detach()
    lowest = real.amin(-1, keepdim=True).detach() - spread - 2
    return torch.where(mask, scores, lowest)
