"""Sums over pairs of items without an (N,N) table: what every rank correlation rests on.

Pairs untied in a vector come from running sums over its ranks, discordant pairs from a merge sort (Knight 1966), done for all examples
at once. Everywhere: x, y (B,N) float, mask (B,N) bool with True = real; what lies outside the mask cannot matter. In float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.errors import InputError

_CHUNK = 2**19  # entries of a (B,N) tensor worked on at once: some 4 MB a temporary, whatever B


def dense_ranks(x: Tensor, mask: Tensor) -> Tensor:
    """(B,N) int64: 0 for the lowest real score, equal if equal, no gaps. Masked items get some rank: weigh them 0."""
    values, order = masking.fill(x.double(), mask, torch.inf).sort(-1)
    return torch.empty_like(order).scatter_(-1, order, steps(values))


def steps(ascending: Tensor) -> Tensor:
    """Dense ranks of values that are sorted already."""
    first = torch.zeros_like(ascending[:, :1], dtype=torch.bool)
    return torch.cat([first, ascending[:, 1:] != ascending[:, :-1]], -1).cumsum(-1)


def per_rank(ranks: Tensor, weight: Tensor) -> Tensor:
    """(B,N): the weight of all items of rank 0, 1, …"""
    return torch.zeros_like(weight).scatter_add_(-1, ranks, weight)


def lower(per_rank: Tensor) -> Tensor:
    """Sums over all lower ranks. Shifted, not cumsum minus self: small weights must survive beside large ones."""
    return torch.cat([torch.zeros_like(per_rank[:, :1]), per_rank.cumsum(-1)[:, :-1]], -1)


class Pairs(NamedTuple):
    """Summed pair weights, each (B,)."""

    untied_x: Tensor
    untied_y: Tensor
    untied: Tensor  # in x or in y
    discordant: Tensor

    @property
    def difference(self) -> Tensor:
        """Concordant - discordant."""
        return self.untied_x + self.untied_y - self.untied - 2 * self.discordant


def pairs_of(x_ranks: Tensor, y_ranks: Tensor, left: Tensor, right: Tensor) -> Pairs:
    """A pair counts left_i right_j + left_j right_i times, or left_i left_j times when right is left."""

    def summed(kernel: Callable[..., Tensor], order: Tensor, left: Tensor, right: Tensor) -> Tensor:
        one_way = kernel(order, left, right)
        return one_way if same else one_way + kernel(order, right, left)

    same = left is right
    # Positions by x, equal x by y; listed by y, equal y by position: only strict disagreements are reversed.
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
    """(B,): sum of left_i right_j over i ranked strictly below j."""
    return (lower(per_rank(ranks, left)) * per_rank(ranks, right)).sum(-1)


def _reversed(listed: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """(B,): sum of left_i right_j over positions i < j of which j is listed first. listed (B,N): a permutation.

    A merge sort run backwards: halve the positions, count those of the later half listed before each of the
    earlier, divide the list in the two halves keeping its order, go on within each. O(N log N).
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
    tau = (pairs.difference / pairs.untied_x.sqrt() / pairs.untied_y.sqrt()).clamp(-1, 1)
    # With less untied weight than this the difference is rounding, and tau would be noise; counts never come near.
    fewest = torch.minimum(pairs.untied_x, pairs.untied_y)
    return unless(fewest <= 1e-12 * pairs.untied, tau)


def in_chunks(function: Callable[..., Tensor], *tensors: Tensor) -> Tensor:
    """function over slices of the batch, so that memory stays bounded."""
    rows = max(1, _CHUNK // max(1, tensors[0].shape[1]))
    return torch.cat(
        [function(*part) for part in zip(*(each.split(rows) for each in tensors), strict=True)]
    )


def has_nan(mask: Tensor, *scores: Tensor) -> Tensor:
    return torch.stack([(each.isnan() & mask).any(-1) for each in scores]).any(0)


def unless(undefined: Tensor, values: Tensor) -> Tensor:
    return torch.where(undefined, torch.nan, values)


def check_scores(x: Tensor, y: Tensor, mask: Tensor, **more: Tensor) -> None:
    given = {"x": x, "y": y, "mask": mask, **more}
    if x.dim() != 2 or any(each.shape != x.shape for each in given.values()):
        got = ", ".join(f"{name} {tuple(each.shape)}" for name, each in given.items())
        raise InputError(
            f"All of these must have one shape (B,N): got {got}. Pad to one length and mask."
        )
    if mask.dtype != torch.bool:
        raise InputError(
            f"mask must be a bool tensor, True = real; got {mask.dtype}. Pass mask.bool()."
        )


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InputError(f"There is no {name} {value!r}. Choose from: {', '.join(choices)}.")
