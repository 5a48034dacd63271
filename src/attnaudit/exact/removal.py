"""Remove items from the attention and renormalise the rest: every prefix of a ranking, and the
smallest removal that flips the decision.

Partly in NumPy, which is faster on small arrays, except for gathering and sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
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
    for part in chunks(len(alpha), readout.shape[1] * (readout.shape[2] + 1)):
        left = _logits_left(given.rows(part), order[part, None])
        curve[part] = torch.from_numpy(left[:, :, 0].copy()).mT.to(curve.device)
    return curve.masked_fill(~_leaves_items(given.mask)[..., None], torch.nan).to(alpha.dtype)


def first_flip(
    given: Prepared, order: Tensor, predicted: Tensor, most: Tensor, margin: float
) -> Tensor:
    """How many items of K rankings (B,K,N) are removed until another candidate class is largest.

    Parameters
    ----------
    predicted : Tensor, (B,)
    most : Tensor, (B,)
        No more items than these are removed.
    margin : float
        A logit is larger if it is by more than margin · (1 + |logit of the predicted class|).

    Returns
    -------
    Tensor, (B,K)
        Infinite if the decision does not flip.
    """
    sizes = np.full(order.shape[:2], np.inf)
    for part in chunks(len(order), order[:1].numel() * (given.probs.shape[1] + 1)):
        logits = _logits_left(given.rows(part), order[part])  # (B,C,K,N)
        of_predicted = logits[np.arange(len(logits)), predicted[part].cpu().numpy()]
        if given.classes is not None:
            logits[~given.classes[part].cpu().numpy()] = -np.inf
        with np.errstate(invalid="ignore"):  # NaN, without output, is no flip
            flips = logits.max(1) - of_predicted > margin * (1 + abs(of_predicted))
        flips[..., 0] = False
        first = flips.argmax(-1)  # 0 if none is
        few = (first > 0) & (first <= most[part].cpu().numpy()[:, None])
        sizes[part] = np.where(few, first, np.inf)
    return torch.from_numpy(sizes).to(order.device)


def _logits_left(given: Prepared, order: Tensor) -> np.ndarray:
    """The logits (B,C,K,N) after removing the first 0, 1, …, N-1 items of rankings (B,K,N).

    NaN where the items left have no weight.
    """
    alpha = given.alpha[:, None]
    terms = torch.cat([alpha * given.readout.mT, alpha], 1)[:, :, None]  # (B,C+1,1,N)
    index = order.flip(-1)[:, None].expand(-1, terms.shape[1], -1, -1)
    # Summed from the end, not total minus prefix: if only zeros are left, the sum is exactly 0.
    left = terms.expand_as(index).gather(3, index).cumsum(-1)
    return (left[:, :-1] / left[:, -1:]).cpu().numpy()[..., ::-1]


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
    free = given.mask if removable is None else given.mask & removable
    items, size = torch.zeros_like(free), torch.full_like(given.probs[:, 0], torch.nan)
    for part in _parts(given):
        fewest, order = _fewest(given.rows(part), free[part])
        first = np.arange(order.shape[1]) < np.where(fewest < np.inf, fewest, 0)[:, None]
        chosen = np.zeros_like(first)
        np.put_along_axis(chosen, order, first, -1)
        items[part], size[part] = torch.from_numpy(chosen), torch.from_numpy(fewest)
    size[size.isinf()] = torch.nan
    return SmallestFlip(items, size.to(alpha.dtype), ~size.isnan())


def fewest_to_flip(given: Prepared, free: Tensor) -> Tensor:
    """The size of `smallest_flip` (B,) alone; infinite if no removal flips the decision.

    free (B,N) are the items of the mask that may be removed.
    """
    size = torch.full_like(given.probs[:, 0], torch.inf)
    for part in _parts(given):
        size[part] = torch.from_numpy(_fewest(given.rows(part), free[part])[0])
    return size


def _parts(given: Prepared) -> list[slice]:
    """Parts of the batch, by memory; none if there is no other class to flip to."""
    _, items, classes = given.readout.shape
    return chunks(len(given.alpha), items * classes * 4) if classes > 1 else []


def _fewest(given: Prepared, free: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """The size (B,) of a smallest set, infinite if there is none, and an order (B,N) to remove in.

    The set are the first items of the order.
    """
    tensors = (given.alpha, given.readout.mT, given.predicted[:, None], free)
    alpha, by_class, predicted, removable = (each.cpu().numpy() for each in tensors)
    example = np.arange(len(alpha))[:, None]
    rivals = np.arange(by_class.shape[1] - 1)
    rivals = rivals + (rivals >= predicted)  # (B,R): all other classes
    drop = by_class[example, predicted] - by_class[example, rivals]
    contribution = alpha[:, None] * drop  # (B,R,N)
    order = np.where(removable[:, None], -contribution, np.inf).argsort(axis=-1, kind="stable")
    # What stays is last in this order, and summed from the end. Strictly larger: by more than the
    # rounding of this sum, which may be tiny compared with what was removed.
    from_end = torch.from_numpy(order[..., ::-1].copy())
    ranked = torch.from_numpy(contribution).gather(2, from_end)
    left, magnitude = torch.stack([ranked, ranked.abs()]).cumsum(-1).numpy()[..., ::-1]
    removed = np.arange(alpha.shape[1])
    flips = (left < -1e-12 * magnitude) & (removed <= removable.sum(-1)[:, None, None])
    if given.classes is not None:
        flips &= given.classes.cpu().numpy()[example, rivals][..., None]
    sizes = _first(flips)
    rival = sizes.argmin(-1)
    return sizes[example[:, 0], rival], order[example[:, 0], rival]


def _first(flips: np.ndarray) -> np.ndarray:
    """The first place along the items that is True; infinite if none is."""
    return np.where(flips.any(-1), flips.argmax(-1), np.inf)


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
