"""Multiplicative attention: a bilinear form of item and query (Luong et al. 2015)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from attnaudit.models.terms import ScoreTerms, one_term


class Bilinear(nn.Module):
    """hᵀ W q; without a query, q is a learned vector."""

    def __init__(self, hidden_size: int, query_size: int | None = None) -> None:
        super().__init__()
        self.weight = nn.Linear(query_size or hidden_size, hidden_size, bias=False)
        # Scaled so that initial scores are small: attention that starts on one item stays there.
        start = torch.randn(hidden_size) / math.sqrt(hidden_size)
        self.query = nn.Parameter(start) if query_size is None else None

    def forward(self, hidden: Tensor, query: Tensor | None) -> Tensor:
        """Score hidden (B,N,H) under query (B,H) or None: (B,N)."""
        if self.query is not None:
            return hidden @ self.weight(self.query)
        assert query is not None  # the model was built for one
        return (hidden @ self.weight(query)[..., None])[..., 0]

    def terms(self, query: Tensor | None) -> ScoreTerms | None:
        """Return what scores are computed from, see `attnaudit.models.terms`.

        None if each text has a query of its own.
        """
        return None if self.query is None else one_term(self.weight(self.query))
