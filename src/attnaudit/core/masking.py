"""Every masked operation, in one place. True = real.

Values outside the mask cannot change the result. They may be anything, NaN and infinity included:
they are replaced before use.
"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import sorting

# Models hide an item by adding -inf, -1e9 or the type's lowest number to its score: this or less.
HIDDEN = -1e4


def fill(values: Tensor, mask: Tensor, value: float = 0.0) -> Tensor:
    """`values` where mask is True, `value` elsewhere."""
    return torch.where(mask, values, torch.full_like(values, value))


def softmax(scores: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Softmax over a dimension within mask; exactly 0 outside it and in an empty row."""
    # The lowest finite number, not -inf: an empty row would give NaN, also in its gradient.
    filled = fill(scores, mask, torch.finfo(scores.dtype).min)
    return fill(filled.softmax(dim), mask)


def probabilities(logits: Tensor, classes: Tensor | None) -> Tensor:
    """Class probabilities (…,C) over the candidate classes (B,C); None: all are candidates."""
    if classes is None:
        return logits.softmax(-1)
    return softmax(logits, _like(classes, logits))


def many_probabilities(logits: Tensor, classes: Tensor | None) -> Tensor:
    """As `probabilities`, of logits (B,K,C) with many K: in float64, the classes apart in memory.

    Sums over a short last dimension take torch ten times as long.
    """
    by_class = logits.double().mT.contiguous()
    if classes is None:
        return by_class.softmax(1).mT
    return softmax(by_class, classes[:, :, None], dim=1).mT


def argmax(values: Tensor, mask: Tensor | None) -> Tensor:
    """Index of the largest value within mask, over the last dimension."""
    if mask is None:
        return values.argmax(-1)
    return fill(values, _like(mask, values), -torch.inf).argmax(-1)


def total(values: Tensor, mask: Tensor) -> Tensor:
    """Sum over the last dimension within mask."""
    return fill(values, mask).sum(-1)


def mean(values: Tensor, mask: Tensor) -> Tensor:
    """Mean over the last dimension within mask; NaN if the mask is empty."""
    return total(values, mask) / mask.sum(-1)


def mean_of_items(hidden: Tensor, mask: Tensor) -> Tensor:
    """Mean of the real items: (B,N,H), mask (B,N) -> (B,H)."""
    return mean(hidden.transpose(1, 2), mask[:, None].expand(-1, hidden.shape[2], -1))


def renormalise(weights: Tensor, mask: Tensor) -> Tensor:
    """Scale the weights within mask to sum to 1 in each row; NaN in a row without weight."""
    kept = fill(weights, mask)
    return kept / kept.sum(-1, keepdim=True)


def uniform(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """The uniform distribution within each row of mask; 0 in an empty row."""
    return mask.to(dtype) / mask.sum(-1, keepdim=True).clamp_min(1)


def descending(scores: Tensor, mask: Tensor, tie_break: Tensor) -> Tensor:
    """Item indices by decreasing score, masked items last.

    Equal scores are ordered by tie_break, never by position. mask and tie_break broadcast with
    scores: they may be the same for several scores.
    """
    # Masked items have the last keys too: a real item may score -inf like them. NaN comes first.
    by_key = sorting.order(fill(tie_break, mask, torch.inf)).expand(scores.shape)
    ascending = fill(-scores.nan_to_num(torch.inf, torch.inf, -torch.inf), mask, torch.inf)
    return by_key.gather(-1, sorting.order(ascending.gather(-1, by_key)))


def to_items(per_token: Tensor, item_of_token: Tensor, items: int) -> Tensor:
    """Sum token values (B,T) into item values (B,N), leaving out tokens of no item (-1)."""
    summed = per_token.new_zeros(per_token.shape[0], items + 1)
    # Slot 0 collects the tokens of no item.
    return summed.scatter_add(1, item_of_token + 1, per_token)[:, 1:]


def _like(mask: Tensor, values: Tensor) -> Tensor:
    """Insert dimensions after B, so that mask (B,C) broadcasts with values (B,K,C)."""
    while mask.dim() < values.dim():
        mask = mask.unsqueeze(1)
    return mask
