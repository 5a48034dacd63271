"""Deep attention: a multi-layer network scores each item (Pavlopoulos et al. 2017).

Wen et al. (2022), equation 3.
"""

from __future__ import annotations

from torch import Tensor, nn

from attnaudit.core.option_limits import COUNT, limits
from attnaudit.models.terms import ScoreTerms, linear_terms


@limits(layers=COUNT)
class Deep(nn.Module):
    """D(W_h h + W_q q), where D is `layers` ReLU layers and a linear one.

    Wen et al. do not give the depth; two layers of H/2 units are our choice.
    """

    def __init__(self, hidden_size: int, query_size: int | None = None, *, layers: int = 2) -> None:
        super().__init__()
        inner = max(hidden_size // 2, 1)
        self.item = nn.Linear(hidden_size, inner)
        self.query = None if query_size is None else nn.Linear(query_size, inner, bias=False)
        between = [part for _ in range(layers - 1) for part in (nn.Linear(inner, inner), nn.ReLU())]
        self.score = nn.Sequential(nn.ReLU(), *between, nn.Linear(inner, 1))

    def forward(self, hidden: Tensor, query: Tensor | None) -> Tensor:
        """Score hidden (B,N,H) under query (B,H) or None: (B,N)."""
        inner = self.item(hidden)
        if self.query is not None and query is not None:
            inner = inner + self.query(query)[:, None]
        return self.score(inner)[..., 0]

    def terms(self, query: Tensor | None) -> ScoreTerms | None:
        """Return what scores are computed from, see `attnaudit.models.terms`."""
        inner = linear_terms(self.item, self.query, query)
        if inner is None:
            return None
        return ScoreTerms(inner.weight, inner.bias, lambda terms: self.score(terms)[..., 0])
