"""Sums over pairs of items, without an (N,N) table: for rank correlations.

Untied pairs are counted by cumulative sums over ranks, discordant pairs by a merge sort (Knight
1966), for all examples at once. Everywhere x, y are (B,N), mask is (B,N) bool with True = real;
what is outside the mask does not matter. In float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.errors import InputError

_CHUNK = 2**19  # entries of a (B,N) tensor worked on at once: about 4 MB per temporary


def dense_ranks(x: Tensor, mask: Tensor) -> Tensor:
    """(B,N) int64: 0 for the lowest real score, equal if equal, no gaps.

    Masked items get some rank too: give them the weight 0.
    """
    values, order = masking.fill(x.double(), mask, torch.inf).sort(-1)
    return torch.empty_like(order).scatter_(-1, order, steps(values))


def steps(ascending: Tensor) -> Tensor:
    """Dense ranks (B,N) of sorted values."""
    first = torch.zeros_like(ascending[:, :1], dtype=torch.bool)
    return torch.cat([first, ascending[:, 1:] != ascending[:, :-1]], -1).cumsum(-1)


def per_rank(ranks: Tensor, weight: Tensor) -> Tensor:
    """The total weight of the items of rank 0, 1, …: (B,N)."""
    return torch.zeros_like(weight).scatter_add_(-1, ranks, weight)


def lower(per_rank: Tensor) -> Tensor:
    """Sums over all lower ranks. Shifted, not cumsum minus self, which would lose small weights."""
    return torch.cat([torch.zeros_like(per_rank[:, :1]), per_rank.cumsum(-1)[:, :-1]], -1)


class Pairs(NamedTuple):
    """Sums of pair weights, each (B,)."""

    untied_x: Tensor
    untied_y: Tensor
    untied: Tensor  # in x or in y
    discordant: Tensor

    @property
    def difference(self) -> Tensor:
        """Concordant - discordant."""
        return self.untied_x + self.untied_y - self.untied - 2 * self.discordant


def pairs_of(x_ranks: Tensor, y_ranks: Tensor, left: Tensor, right: Tensor) -> Pairs:
    """A pair counts left_i right_j + left_j right_i times (left_i left_j if right is left)."""

    def summed(kernel: Callable[..., Tensor], order: Tensor, left: Tensor, right: Tensor) -> Tensor:
        one_way = kernel(order, left, right)
        return one_way if same else one_way + kernel(order, right, left)

    same = left is right
    # Positions by x, equal x by y; listed by y, equal y by position: only strict disagreements
    # are reversed.
    joint, by_x = (x_ranks * x_ranks.shape[1] + y_ranks).sort(-1)
    by_y = y_ranks.gather(-1, by_x).argsort(dim=-1, stable=True)
    placed = left.gather(-1, by_x), right.gather(-1, by_x)
    return Pairs(
        untied_x=summed(ordered, x_ranks, left, right),
        untied_y=summed(ordered, y_ranks, left, right),
        untied=summed(ordered, steps(joint), *placed),
        discordant=summed(_reversed, by_y, *placed),
    )


def ordered(ranks: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """Sum of left_i right_j over i ranked strictly below j: (B,)."""
    return (lower(per_rank(ranks, left)) * per_rank(ranks, right)).sum(-1)


def _reversed(listed: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """Sum of left_i right_j over positions i < j of which j is listed first: (B,).

    listed (B,N) is a permutation. A merge sort run backwards: halve the positions, count those of
    the later half listed before each of the earlier half, split the list into the two halves
    keeping its order, and go on within each. O(N log N).
    """
    rows, items = listed.shape
    size = 1 << max(items - 1, 0).bit_length()
    extra = torch.arange(items, size, device=listed.device).expand(rows, -1)
    listed = torch.cat([listed, extra], -1)
    left = torch.cat([left, left.new_zeros(extra.shape)], -1)
    right = torch.cat([right, right.new_zeros(extra.shape)], -1)
    total = left.new_zeros(rows)
    half = size // 2
    while half:
        late, blocks = (listed & half) != 0, size // (2 * half)
        passed = (right.gather(-1, listed) * late).cumsum(-1).view(rows, blocks, 2 * half)
        before = torch.cat([passed.new_zeros(rows, 1), passed[:, :-1, -1]], -1)[..., None]
        early = (left.gather(-1, listed) * ~late).view_as(passed)
        total += (early * (passed - before)).sum((-2, -1))
        # Every block holds `half` of each kind, so selecting them keeps both block and order.
        halves = listed[~late].view(rows, blocks, half), listed[late].view(rows, blocks, half)
        listed = torch.stack(halves, 2).view(rows, size)
        half //= 2
    return total


def tau_of(pairs: Pairs) -> Tensor:
    """Kendall's tau-b (B,); NaN without untied pairs."""
    tau = (pairs.difference / pairs.untied_x.sqrt() / pairs.untied_y.sqrt()).clamp(-1, 1)
    # With less untied weight than this, tau would be rounding noise; counts are never so small.
    fewest = torch.minimum(pairs.untied_x, pairs.untied_y)
    return nan_where(fewest <= 1e-12 * pairs.untied, tau)


def in_chunks(
    function: Callable[..., Tensor], *tensors: Tensor, numbers: int | None = None
) -> Tensor:
    """Apply a function to slices of the batch, to bound the memory; `numbers` per example."""
    rows = max(1, _CHUNK // max(1, tensors[0].shape[1] if numbers is None else numbers))
    slices = zip(*(tensor.split(rows) for tensor in tensors), strict=True)
    return torch.cat([function(*part) for part in slices])


def has_nan(mask: Tensor, *scores: Tensor) -> Tensor:
    """Is any real score NaN? (B,)"""
    return torch.stack([(score.isnan() & mask).any(-1) for score in scores]).any(0)


def nan_where(undefined: Tensor, values: Tensor) -> Tensor:
    """values, but NaN where undefined."""
    return torch.where(undefined, torch.nan, values)


def check_scores(x: Tensor, y: Tensor, mask: Tensor, **more: Tensor) -> None:
    """Reject tensors of different shapes and a mask that is not bool."""
    given = {"x": x, "y": y, "mask": mask, **more}
    if x.dim() != 2 or any(tensor.shape != x.shape for tensor in given.values()):
        got = ", ".join(f"{name} {tuple(tensor.shape)}" for name, tensor in given.items())
        raise InputError(
            f"All of these must have one shape (B,N): got {got}. Pad to one length and mask."
        )
    if mask.dtype != torch.bool:
        raise InputError(
            f"mask must be a bool tensor, True = real; got {mask.dtype}. Pass mask.bool()."
        )


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Reject a value that is not one of the choices."""
    if value not in choices:
        raise InputError(f"There is no {name} {value!r}. Choose from: {', '.join(choices)}.")
