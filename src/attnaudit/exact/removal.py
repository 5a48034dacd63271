"""Removing items from the attention, with what is left renormalised: every prefix of a ranking at once, and the best possible removal."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnaudit.core.errors import InputError
from attnaudit.exact.inputs import Prepared, chunks, prepare


@dataclass(frozen=True, eq=False)
class SmallestFlip:
    """The fewest items whose removal changes the decision; no ranking can do it with fewer."""

    items: Tensor  # (B,N) bool, one smallest set; empty where impossible
    size: Tensor  # (B,) float, NaN where impossible
    possible: Tensor  # (B,) bool


def removal_curve(alpha: Tensor, readout: Tensor, mask: Tensor, order: Tensor) -> Tensor:
    """Logits after removing the first 0, 1, …, N-1 items of order (B,N), the real items first: (B,N,C).

    Removing S gives Σ_kept alpha_n readout_n / Σ_kept alpha_n. NaN past the length, and where only zero-weight items are left.
    """
    given = prepare(alpha, readout, mask)
    _check_order(order, given.mask)
    curve = torch.empty_like(given.readout)
    for part in chunks(len(alpha), readout.shape[1] * readout.shape[2]):
        weight = given.alpha[part].gather(1, order[part])
        items = given.readout[part].gather(1, order[part][..., None].expand_as(readout[part]))
        # Summed from the end, not total minus prefix: where nothing but zeros is left the sum is exactly 0.
        left = _from_here(weight)
        curve[part] = _from_here(weight[..., None] * items) / left[..., None]
    return curve.masked_fill(~_prefix_left(given.mask)[..., None], torch.nan).to(alpha.dtype)


def smallest_flip(
    alpha: Tensor,
    readout: Tensor,
    mask: Tensor,
    *,
    removable: Tensor | None = None,
    classes: Tensor | None = None,
) -> SmallestFlip:
    """The smallest removal after which another class has strictly the larger logit; checked against all subsets in the tests.
    removable (B,N): the items that may go, all by default; the others stay.

    The sign of (class y - class c) after removal is that of Σ_kept alpha_n (readout_ny - readout_nc): for each c, removing by decreasing
    contribution is optimal. The least over c is a lower bound that the ranking by attention, or any other, can only reach.
    """
    given = prepare(alpha, readout, mask, classes)
    items, size = torch.zeros_like(given.mask), torch.zeros_like(given.probs[:, 0])
    free = given.mask if removable is None else given.mask & removable
    for part in chunks(len(alpha), readout.shape[1] * 8):
        items[part], size[part] = _smallest_flip(given.rows(part), free[part])
    possible = torch.isfinite(size)
    return SmallestFlip(items, size.masked_fill(~possible, torch.nan).to(alpha.dtype), possible)


def _smallest_flip(given: Prepared, free: Tensor) -> tuple[Tensor, Tensor]:
    predicted = given.readout.gather(
        2, given.predicted[:, None, None].expand(-1, given.alpha.shape[1], 1)
    )
    best_size = torch.full_like(given.probs[:, 0], torch.inf)
    best_items = torch.zeros_like(given.mask)
    for rival in range(given.probs.shape[1]):
        contribution = given.alpha * (predicted[..., 0] - given.readout[..., rival])
        order = contribution.masked_fill(~free, -torch.inf).argsort(
            dim=-1, descending=True, stable=True
        )
        ranked = (contribution * free).gather(1, order)
        stays = contribution * ~free
        # Strictly larger means beyond the rounding of the very sum: what is left may be tiny beside what was removed.
        left = _from_here(ranked) + stays.sum(-1, keepdim=True)
        flipped = left < -1e-12 * (_from_here(ranked.abs()) + stays.abs().sum(-1, keepdim=True))
        size = flipped.to(torch.int8).argmax(-1).double().masked_fill(~flipped.any(-1), torch.inf)
        size = size.masked_fill(given.predicted == rival, torch.inf)
        if given.classes is not None:
            size = size.masked_fill(~given.classes[:, rival], torch.inf)
        place = order.argsort(-1)
        better = size < best_size
        best_items = torch.where(better[:, None], place < size[:, None], best_items)
        best_size = torch.where(better, size, best_size)
    return best_items, best_size


def _from_here(values: Tensor) -> Tensor:
    """Sums of values[k:] along the items."""
    return values.flip(1).cumsum(1).flip(1)


def _prefix_left(mask: Tensor) -> Tensor:
    """(B,N): removing k items leaves something, k < length."""
    return torch.arange(mask.shape[1], device=mask.device) < mask.sum(-1, keepdim=True)


def _check_order(order: Tensor, mask: Tensor) -> None:
    if order.shape != mask.shape:
        raise InputError(f"Expected order {tuple(mask.shape)} like mask, got {tuple(order.shape)}.")
    everything = torch.arange(mask.shape[1], device=mask.device).expand_as(order)
    if not torch.equal(order.sort(-1).values, everything):
        raise InputError("order must list every item of each example exactly once.")
    if not torch.equal(mask.gather(1, order), _prefix_left(mask)):
        raise InputError("order must list the real items first; see masking.descending.")
