"""A linear output layer, with or without the query: what keeps the readout exact."""

from __future__ import annotations

from torch import Tensor, nn


class Linear(nn.Module):
    """logits = W c + b, the papers' form: the query steers the attention and nothing else."""

    is_linear = True  # in the context, so a readout exists

    def __init__(self, hidden_size: int, query_size: int | None, classes: int) -> None:
        super().__init__()
        self.context = nn.Linear(hidden_size, classes)

    def forward(self, context: Tensor, query: Tensor | None) -> Tensor:
        """context (B,…,H), query (B,H) or None -> logits (B,…,C)."""
        return self.context(context)


class LinearQuery(Linear):
    """logits = W c + U q + b: a question decides too, and still linearly, so the readout stays exact."""

    def __init__(self, hidden_size: int, query_size: int | None, classes: int) -> None:
        super().__init__(hidden_size, query_size, classes)
        self.query = None if query_size is None else nn.Linear(query_size, classes, bias=False)

    def forward(self, context: Tensor, query: Tensor | None) -> Tensor:
        logits = super().forward(context, query)
        if self.query is None or query is None:
            return logits
        return add_query(logits, self.query(query))


def add_query(values: Tensor, shift: Tensor) -> Tensor:
    """values (B,…,X) + shift (B,X)."""
    return values + shift.view(len(shift), *[1] * (values.dim() - 2), shift.shape[-1])
