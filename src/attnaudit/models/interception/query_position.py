"""The query position whose attention is audited: named by a rule, or found from gradients."""

from __future__ import annotations

import torch
from torch import Tensor


def position_by_rule(rule: str | int, last: Tensor) -> Tensor:
    """Return the position that a rule names in each example (B,).

    Parameters
    ----------
    rule : "first", "last" or int
        A number counts from the first position or, if negative, from the last. In a text that is
        too short for it, the position nearest to it is used.
    last : Tensor of shape (B,)
        The last position of each example.
    """
    if rule == "first":
        return torch.zeros_like(last)
    if rule == "last":
        return last
    assert isinstance(rule, int)  # callers resolve all other rules
    if rule >= 0:
        return torch.minimum(last, torch.full_like(last, rule))
    return (last + 1 + rule).clamp_min(0)


def last_position(where: Tensor) -> Tensor:
    """Return the last True of each row of where (B,T), -1 in a row without any: (B,)."""
    position = torch.arange(where.shape[1], device=where.device).expand_as(where)
    return position.masked_fill(~where, -1).amax(-1)


def mark_positions(positions: Tensor, like: Tensor) -> Tensor:
    """Return a bool tensor like `like` (B,T) that is True at positions (B,P)."""
    return torch.zeros_like(like).scatter(1, positions, True)


def class_weighted_sum(logits: Tensor) -> Tensor:
    """Sum logits (B,C) with a different weight per class, so that gradients do not cancel."""
    return (logits * torch.arange(1, logits.shape[1] + 1, device=logits.device)).sum()
