"""Additive attention: a small network scores each item (Bahdanau et al. 2015)."""

from __future__ import annotations

from torch import Tensor, nn

from attnaudit.models.terms import ScoreTerms, linear_terms


class Additive(nn.Module):
    """v·tanh(W_1 h + W_2 q) with H/2 units, as in Jain & Wallace's released code.

    Without a query the second term is absent.
    """

    def __init__(self, hidden_size: int, query_size: int | None = None) -> None:
        super().__init__()
        inner = max(hidden_size // 2, 1)
        self.item = nn.Linear(hidden_size, inner)
        self.query = None if query_size is None else nn.Linear(query_size, inner, bias=False)
        self.score = nn.Linear(inner, 1, bias=False)

    def forward(self, hidden: Tensor, query: Tensor | None) -> Tensor:
        """Score hidden (B,N,H) under query (B,H) or None: (B,N)."""
        return self.score(self._inner(hidden, query).tanh())[..., 0]

    def without_gradients(self, hidden: Tensor, query: Tensor | None) -> Tensor:
        """As `forward`, up to rounding: PyTorch computes 2σ(2x) - 1 several times as fast."""
        inner = self._inner(hidden, query).mul_(2).sigmoid_().mul_(2).sub_(1)
        return self.score(inner)[..., 0]

    def terms(self, query: Tensor | None) -> ScoreTerms | None:
        """Return what scores are computed from, see `attnaudit.models.terms`."""
        inner = linear_terms(self.item, self.query, query)
        if inner is None:
            return None
        weight = 2 * self.score.weight[0]

        def score(terms: Tensor) -> Tensor:  # tanh(x) = 2(σ(2x) - 1/2), as in `without_gradients`
            return terms.sigmoid_().sub_(0.5).mv(weight)

        return ScoreTerms(2 * inner.weight, 2 * inner.bias, score)

    def _inner(self, hidden: Tensor, query: Tensor | None) -> Tensor:
        inner = self.item(hidden)
        if self.query is not None and query is not None:
            inner = inner + self.query(query)[:, None]
        return inner
