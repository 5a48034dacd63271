"""Remove items from the attention and renormalise the rest: every prefix of a ranking, and the
smallest removal that flips the decision."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnaudit.core.errors import InputError
from attnaudit.exact.inputs import Prepared, chunks, prepare


@dataclass(frozen=True, eq=False)
class SmallestFlip:
    """The fewest items whose removal flips the decision; no ranking can do it with fewer.

    Attributes
    ----------
    items : Tensor, (B,N) bool
        One smallest set; empty if no removal flips the decision.
    size : Tensor, (B,)
        Its size; NaN if no removal flips the decision.
    possible : Tensor, (B,) bool
    """

    items: Tensor
    size: Tensor
    possible: Tensor


def removal_curve(alpha: Tensor, readout: Tensor, mask: Tensor, order: Tensor) -> Tensor:
    """The logits after removing the first 0, 1, …, N-1 items of a ranking.

    With the items of S removed they are Σ_kept alpha_n readout_n / Σ_kept alpha_n.

    Parameters
    ----------
    alpha : Tensor, (B,N)
        The attention weights, summing to 1 within the mask.
    readout : Tensor, (B,N,C)
        The logits that each item alone would give.
    mask : Tensor, (B,N) bool
        True where an item is real.
    order : Tensor, (B,N) int64
        Item indices in the order of removal, the real items first (see `masking.descending`).

    Returns
    -------
    Tensor, (B,N,C)
        NaN beyond the length of an example, and where the items left have no weight.

    Examples
    --------
    >>> alpha = torch.tensor([[0.5, 0.25, 0.25]])
    >>> readout = torch.tensor([[[4.0], [0.0], [2.0]]])
    >>> order = torch.tensor([[0, 1, 2]])
    >>> removal_curve(alpha, readout, torch.ones(1, 3, dtype=torch.bool), order)[0, :, 0]
    tensor([2.5000, 1.0000, 2.0000])
    """
    given = prepare(alpha, readout, mask)
    _check_order(order, given.mask)
    curve = torch.empty_like(given.readout)
    for part in chunks(len(alpha), readout.shape[1] * readout.shape[2]):
        weight = given.alpha[part].gather(1, order[part])
        items = given.readout[part].gather(1, order[part][..., None].expand_as(readout[part]))
        # Summed from the end, not total minus prefix: if only zeros are left, the sum is exactly 0.
        left = _suffix_sums(weight)
        curve[part] = _suffix_sums(weight[..., None] * items) / left[..., None]
    return curve.masked_fill(~_leaves_items(given.mask)[..., None], torch.nan).to(alpha.dtype)


def smallest_flip(
    alpha: Tensor,
    readout: Tensor,
    mask: Tensor,
    *,
    removable: Tensor | None = None,
    classes: Tensor | None = None,
) -> SmallestFlip:
    """The smallest removal after which another class has a strictly larger logit.

    After a removal, the sign of logit y - logit c is that of Σ_kept alpha_n (readout_ny -
    readout_nc): for each rival c, removing by decreasing contribution is optimal. The smallest
    over c is a lower bound for every ranking, by attention or otherwise.

    Parameters
    ----------
    alpha : Tensor, (B,N)
        The attention weights, summing to 1 within the mask.
    readout : Tensor, (B,N,C)
        The logits that each item alone would give.
    mask : Tensor, (B,N) bool
        True where an item is real.
    removable : Tensor, (B,N) bool, optional
        The items that may be removed; all if omitted.
    classes : Tensor, (B,C) bool, optional
        The candidate classes; all if omitted.

    Returns
    -------
    SmallestFlip

    Examples
    --------
    >>> alpha = torch.tensor([[0.6, 0.25, 0.15]])
    >>> readout = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]])
    >>> flip = smallest_flip(alpha, readout, torch.ones(1, 3, dtype=torch.bool))
    >>> flip.size, flip.items
    (tensor([1.]), tensor([[ True, False, False]]))
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
        # Strictly larger: by more than the rounding of this sum, which may be tiny compared with
        # what was removed.
        left = _suffix_sums(ranked) + stays.sum(-1, keepdim=True)
        flipped = left < -1e-12 * (_suffix_sums(ranked.abs()) + stays.abs().sum(-1, keepdim=True))
        size = flipped.to(torch.int8).argmax(-1).double().masked_fill(~flipped.any(-1), torch.inf)
        size = size.masked_fill(given.predicted == rival, torch.inf)
        if given.classes is not None:
            size = size.masked_fill(~given.classes[:, rival], torch.inf)
        place = order.argsort(-1)
        better = size < best_size
        best_items = torch.where(better[:, None], place < size[:, None], best_items)
        best_size = torch.where(better, size, best_size)
    return best_items, best_size


def _suffix_sums(values: Tensor) -> Tensor:
    """Sums of values[k:] along the items."""
    return values.flip(1).cumsum(1).flip(1)


def _leaves_items(mask: Tensor) -> Tensor:
    """(B,N): removing k items leaves some, k < length."""
    return torch.arange(mask.shape[1], device=mask.device) < mask.sum(-1, keepdim=True)


def _check_order(order: Tensor, mask: Tensor) -> None:
    if order.shape != mask.shape:
        raise InputError(f"Expected order {tuple(mask.shape)} like mask, got {tuple(order.shape)}.")
    everything = torch.arange(mask.shape[1], device=mask.device).expand_as(order)
    if not torch.equal(order.sort(-1).values, everything):
        raise InputError("order must list every item of each example exactly once.")
    if not torch.equal(mask.gather(1, order), _leaves_items(mask)):
        raise InputError("order must list the real items first; see masking.descending.")
