"""Scores and logits from terms that are linear in a state.

One half of the state can then change by itself, and only its part of the terms is computed again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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


def linear_terms(
    layer: Any, of_query: nn.Module | None = None, query: Tensor | None = None
) -> Terms | None:
    """The terms of a linear layer; None for what someone put in its place.

    With a layer for it, the query (B,Q) contributes to the bias.
    """
    if not isinstance(layer, nn.Linear):
        return None
    no_bias = layer.weight.new_zeros(len(layer.weight))
    bias: Tensor = (no_bias if layer.bias is None else layer.bias)[None]
    if of_query is not None and query is not None:
        bias = bias + of_query(query)
    return Terms(layer.weight, bias)


def one_term(vector: Tensor) -> ScoreTerms:
    """The score vector · state, for a vector (H,)."""
    return ScoreTerms(vector[None], vector.new_zeros(1, 1), lambda terms: terms[..., 0])


def describes_forward(part: nn.Module, name: str) -> bool:
    """Return whether a method of this name belongs to the `forward` of a part.

    A subclass may override `forward` and inherit the other, which is then of another computation.
    So may a hook, or a `forward` of this part alone.
    """

    def defined_in(method: str) -> type | None:
        return next((kind for kind in type(part).__mro__ if method in vars(kind)), None)

    changed = part._forward_hooks or part._forward_pre_hooks or "forward" in vars(part)
    own = defined_in(name)
    return own is not None and own is defined_in("forward") and not changed
