"""Numbers that are linear in a state, so that one half of the state can change by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn


@dataclass(frozen=True)
class Terms:
    """weight @ state + bias."""

    weight: Tensor  # (X,H)
    bias: Tensor  # (B,X), or (1,X) if it is the same for all texts


@dataclass(frozen=True)
class ScoreTerms(Terms):
    """What the score of an item is computed from: score(terms (M,X)) -> (M,), without gradients.

    The function may use the memory of its argument.
    """

    score: Callable[[Tensor], Tensor]


def describes_forward(part: nn.Module, name: str) -> bool:
    """Return whether a method of this name belongs to the `forward` of a part.

    A subclass may override `forward` and inherit the other, which is then of another computation.
    """

    def defined_in(method: str) -> type | None:
        return next((kind for kind in type(part).__mro__ if method in vars(kind)), None)

    return defined_in(name) is not None and defined_in(name) is defined_in("forward")


def one_term(vector: Tensor) -> ScoreTerms:
    """The score vector · state, for a vector (H,)."""
    return ScoreTerms(vector[None], vector.new_zeros(1, 1), lambda terms: terms[..., 0])
