"""A tanh layer over context and query, as released with Jain & Wallace (2019); no readout."""

from __future__ import annotations

from torch import Tensor, nn

from attnaudit.models.outputs.linear import add_query


class TanhQuery(nn.Module):
    """logits = W tanh(W_p c + W_q q) + b; the hidden layer is half as wide as the context."""

    is_linear = False

    def __init__(self, hidden_size: int, query_size: int | None, classes: int) -> None:
        super().__init__()
        inner = max(hidden_size // 2, 1)
        self.context = nn.Linear(hidden_size, inner)
        self.query = None if query_size is None else nn.Linear(query_size, inner, bias=False)
        self.join = nn.Linear(inner, classes)

    def forward(self, context: Tensor, query: Tensor | None) -> Tensor:
        """Return the logits (B,…,C) of context (B,…,H) and query (B,H) or None."""
        inner = self.context(context)
        if self.query is not None and query is not None:
            inner = add_query(inner, self.query(query))
        return self.join(inner.tanh())
