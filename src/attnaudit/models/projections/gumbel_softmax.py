"""Gumbel-softmax: noise on the scores while training, so that the weights learn to be far apart (Jang et al. 2017; Wen et al. 2022)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attnaudit.core import masking
from attnaudit.core.option_limits import Number, limits


@limits(temperature=Number(above=0))
class GumbelSoftmax(nn.Module):
    """softmax((scores + Gumbel noise) / temperature) while training; without the noise when reading."""

    def __init__(self, *, temperature: float = 0.8) -> None:
        super().__init__()
        self.temperature = temperature
        # A generator of its own, seeded from the state in which the model is built: training repeats, nothing global is drawn on.
        self._draw = torch.Generator().manual_seed(int(torch.randint(2**62, ())))

    def forward(self, scores: Tensor, mask: Tensor) -> Tensor:
        if self.training:
            uniform = torch.rand(scores.shape, generator=self._draw, dtype=torch.float64)
            noise = -(-uniform.clamp_min(1e-300).log()).log()
            scores = scores + noise.to(scores)
        return masking.softmax(scores / self.temperature, mask)
