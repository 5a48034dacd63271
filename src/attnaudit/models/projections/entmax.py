"""α-entmax: between softmax (α = 1) and sparsemax (α = 2); α is fixed or learned.

Peters et al. (2019) and, for learned α, Correia et al. (2019).
"""

from __future__ import annotations

import entmax
import torch
from torch import Tensor, nn

from attnaudit.core import masking
from attnaudit.core.option_limits import Number, limits
from attnaudit.models.projections.sparsemax import far_below


@limits(alpha=Number(above=1, most=2, or_word="learned"))
class Entmax(nn.Module):
    """argmax p·scores + H_α(p) over the simplex, where H_α is Tsallis entropy.

    With alpha=learned the model learns one α in (1, 2), starting at 1.5.
    """

    def __init__(self, *, alpha: float | str = 1.5) -> None:
        super().__init__()
        learned = alpha == "learned"
        self.fixed = None if learned else float(alpha)
        self.raw = nn.Parameter(torch.zeros(())) if learned else None

    @property
    def alpha(self) -> Tensor | float:
        """The α in use; a tensor with a gradient if it is learned."""
        return 1 + self.raw.sigmoid() if self.raw is not None else float(self.fixed or 0)

    def forward(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Project scores (B,N) within mask (B,N)."""
        # The library scales scores by alpha - 1; far_below must apply to the scaled scores.
        filled = far_below(scores * (self.alpha - 1), mask) / (self.alpha - 1)
        if self.fixed == 1.5:
            weights = entmax.entmax15(filled, dim=-1)
        elif self.fixed == 2.0:
            weights = entmax.sparsemax(filled, dim=-1)
        else:
            weights = entmax.entmax_bisect(filled, alpha=self.alpha, dim=-1)
        return masking.fill(weights, mask)
