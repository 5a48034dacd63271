"""A linear output layer, with or without the query, for which the readout is exact."""

from __future__ import annotations

from torch import Tensor, nn

from attnaudit.models.terms import Terms, linear_terms


class Linear(nn.Module):
    """logits = W c + b, as in the papers: the query affects the attention only."""

    is_linear = True  # in the context, so a readout exists

    def __init__(self, hidden_size: int, query_size: int | None, classes: int) -> None:
        super().__init__()
        self.context = nn.Linear(hidden_size, classes)

    def forward(self, context: Tensor, query: Tensor | None) -> Tensor:
        """Return the logits (B,…,C) of context (B,…,H); the query is not used."""
        return self.context(context)

    def terms(self, query: Tensor | None) -> Terms | None:
        """Return weight and bias of the logits; the query is not used."""
        return linear_terms(self.context)


class LinearQuery(Linear):
    """logits = W c + U q + b: the query contributes too, linearly, so the readout is exact."""

    def __init__(self, hidden_size: int, query_size: int | None, classes: int) -> None:
        super().__init__(hidden_size, query_size, classes)
        self.query = None if query_size is None else nn.Linear(query_size, classes, bias=False)

    def forward(self, context: Tensor, query: Tensor | None) -> Tensor:
        """Return the logits (B,…,C) of context (B,…,H) and query (B,H) or None."""
        logits = super().forward(context, query)
        if self.query is None or query is None:
            return logits
        return add_query(logits, self.query(query))

    def terms(self, query: Tensor | None) -> Terms | None:
        """Return weight and bias of the logits; the query contributes to the bias."""
        return linear_terms(self.context, self.query, query)


def add_query(values: Tensor, shift: Tensor) -> Tensor:
    """Return values (B,…,X) + shift (B,X)."""
    return values + shift.view(len(shift), *[1] * (values.dim() - 2), shift.shape[-1])
