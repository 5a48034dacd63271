"""Counts of concordant and discordant pairs in long texts, by two sorts and a merge sort.

As `pairs.pairs_of` with the weight 1 for every real item, in integers and without the tables that
weights need.
"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.statistics.pairs import Pairs, Ties, lower, per_rank, steps


def counted_pairs(x: Tensor, y: Tensor, mask: Tensor) -> tuple[Pairs, Ties, Ties]:
    """Counts of pairs, and the ties of x and of y, from x, y, mask (B,N)."""
    y_sorted, by_y = masking.fill(y.double(), mask, torch.inf).sort(dim=-1, stable=True)
    x_by_y = masking.fill(x.double(), mask, torch.inf).gather(-1, by_y)
    x_sorted, by_x = x_by_y.sort(dim=-1, stable=True)  # equal x by y
    x_ranks, y_ranks = steps(x_sorted), steps(y_sorted)
    real = mask.gather(-1, by_y)
    joint = _either_changes(x_ranks, y_ranks.gather(-1, by_x))
    by_rank = [
        per_rank(ranks, kept.double())
        for ranks, kept in (
            (x_ranks, real.gather(-1, by_x)),
            (y_ranks, real),
            (joint, real.gather(-1, by_x)),
        )
    ]
    untied_x, untied_y, untied = ((lower(count) * count).sum(-1) for count in by_rank)
    # For each item by y its position by x: a pair that disagrees is reversed.
    listed = torch.empty_like(by_x).scatter_(-1, by_x, _places(by_x))
    tied = (y_ranks[:, 1:] == y_ranks[:, :-1]) & (real[:, 1:] | real[:, :-1])
    if bool(tied.any()):  # equal y by x, so that they are not reversed
        listed = listed.gather(-1, (y_ranks * listed.shape[1] + listed).argsort(-1))
    pairs = Pairs(untied_x, untied_y, untied, inversions(listed).double())
    return pairs, *(Ties(count, count) for count in by_rank[:2])  # type: ignore[return-value]


def inversions(listed: Tensor) -> Tensor:
    """How many pairs of a permutation (B,N) of 0, 1, … N-1 are reversed: (B,) int64.

    A merge sort run backwards, O(N log N): count the numbers of the upper half that come before
    each of the lower half, divide the list into the two halves, keeping its order, and go on within
    each.

    Examples
    --------
    >>> inversions(torch.tensor([[0, 1, 2], [2, 0, 1], [2, 1, 0]]))
    tensor([0, 2, 3])
    """
    rows, items = listed.shape
    size = 1 << max(items - 1, 0).bit_length()
    listed = torch.cat([listed, _places(listed.new_empty(rows, size))[:, items:]], -1)
    total = listed.new_zeros(rows)
    half = size // 2
    while half:
        blocks = listed.view(rows, size // (2 * half), 2 * half)
        upper = (blocks & half) != 0
        passed = upper.cumsum(-1)
        total += (passed * ~upper).sum((-2, -1))
        place = torch.where(upper, passed + (half - 1), _places(blocks) - passed)
        listed = torch.empty_like(blocks).scatter_(-1, place, blocks)
        half //= 2
    return total


def _places(like: Tensor) -> Tensor:
    """0, 1, … along the last dimension, in the shape of `like`."""
    return torch.arange(like.shape[-1], device=like.device).expand_as(like)


def _either_changes(first: Tensor, second: Tensor) -> Tensor:
    """Dense ranks (B,N) of pairs of numbers that are sorted."""
    changes = (first[:, 1:] != first[:, :-1]) | (second[:, 1:] != second[:, :-1])
    return torch.cat([torch.zeros_like(changes[:, :1]), changes], -1).cumsum(-1)
