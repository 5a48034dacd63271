"""Every masked operation, in one place: True = real. Nothing outside the mask can change what comes out.

Inputs outside the mask may be anything, NaN and infinity included; they are replaced before they are used.
"""

from __future__ import annotations

import torch
from torch import Tensor

HIDDEN = (
    -1e4
)  # what is added to a score to hide it is this or less: -inf, -1e9, the least number of the type


def fill(values: Tensor, mask: Tensor, value: float = 0.0) -> Tensor:
    """values where mask, `value` elsewhere."""
    return torch.where(mask, values, torch.full_like(values, value))


def softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the last dimension within mask: exactly 0 outside; a row with an empty mask is all 0."""
    # The least finite number, not -inf: an empty row would give NaN, and NaN in its gradient even after masking.
    filled = fill(scores, mask, torch.finfo(scores.dtype).min)
    return fill(filled.softmax(-1), mask)


def probabilities(logits: Tensor, classes: Tensor | None) -> Tensor:
    """Class probabilities (…,C) over the candidate classes (B,C); every class is a candidate when None."""
    if classes is None:
        return logits.softmax(-1)
    return softmax(logits, _like(classes, logits))


def argmax(values: Tensor, mask: Tensor | None) -> Tensor:
    """Index of the largest value within mask, along the last dimension."""
    if mask is None:
        return values.argmax(-1)
    return fill(values, _like(mask, values), -torch.inf).argmax(-1)


def total(values: Tensor, mask: Tensor) -> Tensor:
    return fill(values, mask).sum(-1)


def mean(values: Tensor, mask: Tensor) -> Tensor:
    """Mean over the last dimension within mask; NaN where the mask is empty."""
    return total(values, mask) / mask.sum(-1)


def mean_of_items(hidden: Tensor, mask: Tensor) -> Tensor:
    """Mean of the real items: (B,N,H), mask (B,N) -> (B,H)."""
    return mean(hidden.transpose(1, 2), mask[:, None].expand(-1, hidden.shape[2], -1))


def renormalise(weights: Tensor, mask: Tensor) -> Tensor:
    """weights within mask scaled to sum to 1 in each row; NaN in a row whose weight is all gone."""
    kept = fill(weights, mask)
    return kept / kept.sum(-1, keepdim=True)


def uniform(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """The uniform distribution on each row of mask; 0 in an empty row."""
    return mask.to(dtype) / mask.sum(-1, keepdim=True).clamp_min(1)


def descending(scores: Tensor, mask: Tensor, tie_break: Tensor) -> Tensor:
    """Item indices by decreasing score, the masked ones last; equal scores in the order of tie_break, never of position."""
    by_key = tie_break.argsort(-1)
    filled = fill(scores, mask, -torch.inf).gather(-1, by_key)
    by_score = filled.argsort(dim=-1, descending=True, stable=True)
    order = by_key.gather(-1, by_score)
    # A real item may score -inf too: send the masked ones to the end in a pass of their own.
    real_first = mask.gather(-1, order).to(torch.int8).argsort(dim=-1, descending=True, stable=True)
    return order.gather(-1, real_first)


def to_items(per_token: Tensor, item_of_token: Tensor, items: int) -> Tensor:
    """Sum token values (B,T) into item values (B,N); tokens of no item (-1) are left out."""
    summed = per_token.new_zeros(per_token.shape[0], items + 1)
    # Slot 0 collects the tokens of no item.
    return summed.scatter_add(1, item_of_token + 1, per_token)[:, 1:]


def _like(mask: Tensor, values: Tensor) -> Tensor:
    """mask (B,C) with dimensions put in after B, to go with values (B,K,C)."""
    while mask.dim() < values.dim():
        mask = mask.unsqueeze(1)
    return mask
