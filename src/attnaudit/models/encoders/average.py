"""Jain & Wallace's "average" encoder: one layer per embedding, without context."""

from __future__ import annotations

from attnaudit.core.option_limits import COUNT, Fidelity, limits
from attnaudit.models.encoders.mlp import MLP


@limits(hidden=COUNT, fidelity=Fidelity("the average encoder", ("paper", "code")))
class Average(MLP):
    """Linear and ReLU, 256 units, as in the paper; tanh and 128, as released (fidelity=code)."""

    def __init__(
        self, input_size: int, *, hidden: int | None = None, fidelity: str = "paper"
    ) -> None:
        released = fidelity == "code"
        size = hidden if hidden is not None else (128 if released else 256)
        super().__init__(input_size, hidden=size, activation="tanh" if released else "relu")
