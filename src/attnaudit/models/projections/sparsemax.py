"""Sparsemax: the nearest point of the simplex, with exact zeros (Martins & Astudillo 2016)."""

from __future__ import annotations

import entmax
import torch
from torch import Tensor, nn

from attnaudit.core import masking


class Sparsemax(nn.Module):
    """argmin ‖p - scores‖² over the simplex."""

    def forward(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Project scores (B,N) within mask (B,N)."""
        return masking.fill(entmax.sparsemax(far_below(scores, mask), dim=-1), mask)


def far_below(scores: Tensor, mask: Tensor) -> Tensor:
    """Lower the masked scores so far that no sparse projection gives them weight.

    They stay finite, and close to the real scores: in float32 the library would lose digits when
    it adds up a fixed -1e9.
    """
    real = masking.fill(scores, mask)
    spread = (real.amax(-1, keepdim=True) - real.amin(-1, keepdim=True)).detach()
    lowest = real.amin(-1, keepdim=True).detach() - spread - 2
    return torch.where(mask, scores, lowest)
