"""Dot product of item and query (Luong et al. 2015; scaled: Vaswani et al. 2017)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from attnaudit.models.terms import ScoreTerms, one_term


class Dot(nn.Module):
    """h·q / √H; without a query, q is a learned vector.

    Jain & Wallace scale the product; Wen et al. do not (dot:scaled=false).
    """

    def __init__(
        self, hidden_size: int, query_size: int | None = None, *, scaled: bool = True
    ) -> None:
        super().__init__()
        self.scale = 1 / math.sqrt(hidden_size) if scaled else 1.0
        self.query = (
            nn.Parameter(torch.randn(hidden_size) / math.sqrt(hidden_size))
            if query_size is None
            else None
        )

    def forward(self, hidden: Tensor, query: Tensor | None) -> Tensor:
        """Score hidden (B,N,H) under query (B,H) or None: (B,N)."""
        if self.query is not None:
            return hidden @ self.query * self.scale
        assert query is not None  # the model was built for one
        return (hidden @ query[..., None])[..., 0] * self.scale

    def terms(self, query: Tensor | None) -> ScoreTerms | None:
        """Return what scores are computed from, see `attnaudit.models.terms`.

        None if each text has a query of its own.
        """
        return None if self.query is None else one_term(self.query * self.scale)
