"""Sparsegen: sparsemax with adjustable sparsity (Laha et al. 2018; Meister et al. 2021)."""

from __future__ import annotations

import entmax
from torch import Tensor, nn

from attnaudit.core import masking
from attnaudit.core.option_limits import Number, limits
from attnaudit.models.projections.sparsemax import far_below


@limits(lam=Number(below=1))
class Sparsegen(nn.Module):
    """argmin ‖p - scores‖² - lam·‖p‖² over the simplex, lam < 1: sparsemax(scores / (1 - lam)).

    lam = 0 is sparsemax; lam → 1 puts all weight on the top item; lam → -∞ tends to uniform.
    """

    def __init__(self, *, lam: float = 0.0) -> None:
        super().__init__()
        self.lam = lam

    def forward(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Project scores (B,N) within mask (B,N)."""
        return masking.fill(
            entmax.sparsemax(far_below(scores / (1 - self.lam), mask), dim=-1), mask
        )
