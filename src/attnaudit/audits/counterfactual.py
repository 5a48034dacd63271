"""What if the attention had been different? The alternatives that audits decode."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from attnaudit.core import masking, randomness
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.decoding import logits_under
from attnaudit.core.memory_budget import rows_at_once
from attnaudit.core.simplex import MOST_ITEMS
from attnaudit.core.sorting import sort_in_place

MOST_ORDERS = 120  # of an example, all rows together, that are decoded one by one: 5! in one row
_PLACE_BITS = 9  # of a packed number; 54 are the draw's
_FEW = 5  # items of a row with at most that many orders


def flipped(logits: Tensor, record: Record) -> Tensor:
    """Whether logits (B,K,C) change the decision (B,K): another candidate is strictly above it.

    By more than rounding error; NaN logits are no flip.
    """
    return decision_flipped(
        logits,
        record.predicted,
        record.batch.classes,
        margin=rounding_margin(record.logits.dtype),
    )


def decision_flipped(
    logits: Tensor, predicted: Tensor, classes: Tensor | None, *, margin: float
) -> Tensor:
    """As `flipped`, of logits (M,K,C) against predicted classes (M,) among the candidates (M,C).

    `margin` is the `rounding_margin` of the type in which the logits were computed.
    """
    of_predicted = logits.gather(-1, predicted[:, None, None].expand(-1, logits.shape[1], 1))[
        ..., 0
    ]
    if classes is not None:
        logits = masking.fill(logits, classes[:, None].expand_as(logits), -torch.inf)
    return logits.amax(-1) - of_predicted > margin * (1 + of_predicted.abs())


def rounding_margin(dtype: torch.dtype) -> float:
    """By how much, relative to its size, a logit of this type must exceed another to be larger."""
    return 8 * torch.finfo(dtype).eps


def words_of(record: Record) -> Tensor:
    """The items of each row (B,R,N) whose weights are moved: those that count, never a mark."""
    return record.mask & record.content[:, None]


def number_of_orders(mask: Tensor) -> Tensor:
    """The orders of the items in mask (B,R,N), all rows together: (B,) float64.

    Exact up to `MOST_ORDERS`; infinite if there are very many.

    Examples
    --------
    >>> mask = torch.ones(1, 2, 3, dtype=torch.bool)  # two rows of three items: 3! · 3! orders
    >>> number_of_orders(mask), number_of_orders(mask[:, :1])
    (tensor([36.], dtype=torch.float64), tensor([6.], dtype=torch.float64))
    """
    return torch.exp(torch.lgamma(mask.sum(-1).double() + 1)).round().prod(-1)


def permuted(
    alpha: Tensor,
    mask: Tensor,
    count: int,
    seed: int,
    example_ids: Iterable[str],
    *,
    first: int = 0,
) -> Tensor:
    """Shuffles number `first` to `first + count - 1` of alpha (B,R,N): (B,count,R,N).

    Every row is shuffled on its own over the items in mask (B,R,N); other weights stay. If all rows
    of an example together have at most `MOST_ORDERS` orders, its shuffles are these, one after the
    other, again from the start when all were given. Otherwise they are random, keyed by
    (seed, row, example id), and the same in every batch.
    """
    rows = alpha.shape[1]
    lengths = mask.sum(-1)  # (B,R)
    width = int(lengths.max()) if lengths.numel() else 0
    real_first = (~mask).to(torch.int8).argsort(dim=-1, stable=True)[..., :width]  # (B,R,W)
    place = torch.arange(width, device=alpha.device)
    number = torch.arange(first, first + count, device=alpha.device)
    keys = randomness.keys_by_row(seed, "permutation", example_ids, rows).to(alpha.device)
    draws = randomness.bits_at(keys[:, None, :, None], number[:, None, None] * MOST_ITEMS + place)
    inside = place < lengths[:, None, :, None]
    source = _order(torch.where(inside, draws, 1 << 53))  # the places outside stay last, in order
    few = number_of_orders(mask) <= MOST_ORDERS
    if bool(few.any()):
        source[few] = _listed(lengths[few], number, width)
    target = real_first[:, None].expand(-1, count, -1, -1)
    shuffled = alpha.gather(-1, real_first)[:, None].expand(target.shape).gather(-1, source)
    return alpha[:, None].expand(-1, count, -1, -1).scatter(-1, target, shuffled)


def _order(draws: Tensor) -> Tensor:
    """The places (…,W) of numbers below 2^53 or equal to it, by increasing number, then place.

    Number and place are packed into one integer, in the memory of the numbers: these are sorted
    several times as fast as numbers with their places.
    """
    width = draws.shape[-1]
    if width > 1 << _PLACE_BITS:
        return draws.argsort(dim=-1, stable=True)
    packed = draws.bitwise_left_shift_(_PLACE_BITS)
    packed = sort_in_place(packed.bitwise_or_(torch.arange(width, device=draws.device)))
    return packed.bitwise_and_((1 << _PLACE_BITS) - 1)


def logits_of_draws(
    model: AttentionModel, record: Record, count: int, draw: Callable[[int, int], Tensor]
) -> Tensor:
    """Logits (B,count,C) under `count` alternatives, of which few are in memory at a time.

    Parameters
    ----------
    draw : callable
        (first, number) -> the alternatives from `first` on (B,number,R,N).
    """
    step = rows_at_once(record.alpha.numel())
    parts = [
        logits_under(model, record, draw(first, min(step, count - first)))
        for first in range(0, count, step)
    ]
    return torch.cat(parts, 1)


def _listed(lengths: Tensor, number: Tensor, width: int) -> Tensor:
    """Order number k of all rows together, for rows of few items: (B,K,R,width) from (B,R), (K,).

    The order of row 0 changes fastest, then that of row 1.
    """
    table = _ORDERS.to(lengths.device)
    per_row = torch.tensor([math.factorial(n) for n in range(_FEW + 1)], device=lengths.device)
    orders = per_row[lengths]  # (B,R)
    before = orders.cumprod(-1) // orders
    which = number[:, None] // before[:, None] % orders[:, None]  # (B,K,R)
    listed = table[lengths[:, None].expand_as(which), which]
    if width <= _FEW:
        return listed[..., :width]
    rest = torch.arange(_FEW, width, device=lengths.device).expand(*which.shape, -1)
    return torch.cat([listed, rest], -1)


def _table_of_orders() -> Tensor:
    """All orders of n items, for n from 0 to `_FEW`: (n, orders, items)."""
    table = torch.arange(_FEW).expand(_FEW + 1, MOST_ORDERS, _FEW).clone()
    for n in range(1, _FEW + 1):
        table[n, : math.factorial(n), :n] = torch.tensor(list(itertools.permutations(range(n))))
    return table


_ORDERS = _table_of_orders()


def without_item(alpha: Tensor, mask: Tensor, drop: Tensor) -> Tensor:
    """alpha with the items in drop (bool, same shape) removed and the rest renormalised.

    NaN in a row where no weight is left.
    """
    return masking.renormalise(alpha, mask & ~drop)
