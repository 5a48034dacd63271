"""Gumbel-softmax: softmax with noise on the scores during training (Jang et al. 2017).

The noise makes the model learn well-separated weights (Wen et al. 2022).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attnaudit.core import masking
from attnaudit.core.option_limits import Number, limits


@limits(temperature=Number(above=0))
class GumbelSoftmax(nn.Module):
    """softmax((scores + Gumbel noise) / temperature) in training; without noise in evaluation."""

    def __init__(self, *, temperature: float = 0.8) -> None:
        super().__init__()
        self.temperature = temperature
        # Its own generator, seeded when the model is built, makes training reproducible and leaves
        # the global random state alone.
        self._draw = torch.Generator().manual_seed(int(torch.randint(2**62, (), device="cpu")))

    def forward(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Project scores (B,N) within mask (B,N)."""
        if self.training:
            uniform = torch.rand(scores.shape, generator=self._draw, dtype=torch.float64)
            noise = -(-uniform.clamp_min(1e-300).log()).log()
            scores = scores + noise.to(scores)
        return masking.softmax(scores / self.temperature, mask)
