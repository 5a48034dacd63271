"""Intervals for means over examples that cover as often as they claim, or are withheld."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.errors import InputError
from attnaudit.statistics.interval_kinds import FEW, FEW_WITH_SPREAD, MIN_SPREAD, Kind
from attnaudit.statistics.rates import rate_interval, signed_rate_interval
from attnaudit.statistics.resampling import check_resampling, studentised_quantiles


class Interval(NamedTuple):
    """A mean over examples with its interval, each () or (M,)."""

    estimate: Tensor
    low: Tensor
    high: Tensor
    nan_share: Tensor  # the share of examples without a value
    kind: Tensor  # how the ends were made, or why they are withheld: see `describe_interval`


def bootstrap(
    values: Tensor,
    *,
    limits: Tensor | tuple[float, float] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Interval of a mean over examples, by the method that suits its values.

    Studentised bootstrap (bootstrap-t, Efron 1982) in general, Wilson's interval (1927) if all
    values are 0 or 1, that of Bonett & Price (2012) if all are -1, 0 or 1. If all values are
    equal or almost, as far as the share of other values that a sample of this size can miss
    (Wilson) may move the mean within the limits. Withheld (NaN) where no method covers as often as
    it claims; the rules and the measured coverage are in docs/statistics.md.

    Parameters
    ----------
    values : Tensor, (B,) or (B,M)
        NaN are left out of every mean. Columns share their resamples, as paired data must.
    limits : (float, float) or Tensor, (M,2), optional
        The smallest and largest possible value, NaN if unknown. The interval stays within.
    level : float
        The coverage of the interval.
    resamples : int
    seed : int
        Which examples are drawn depends on the seed and B alone.

    Returns
    -------
    Interval
        estimate, low, high, nan_share and kind, each () or (M,). NaN where no value is known;
        low and high also where the interval is withheld.

    Examples
    --------
    >>> interval = bootstrap(torch.tensor([0.0, 1.0, 1.0, float("nan")] * 5))
    >>> interval.estimate, interval.nan_share
    (tensor(0.6667, dtype=torch.float64), tensor(0.2500, dtype=torch.float64))
    >>> bool(interval.low < interval.estimate < interval.high)
    True
    """
    if values.dim() not in (1, 2):
        raise InputError(
            f"values must be (B,) or (B,M); got {tuple(values.shape)}. Put the examples first."
        )
    check_resampling(level, resamples)
    columns = values.double() if values.dim() == 2 else values.double()[:, None]
    least, most = _limits(limits, columns)
    known = ~columns.isnan()
    filled, count = masking.fill(columns, known), known.sum(0)
    estimate = filled.sum(0) / count
    kind = _kinds(columns, known, least, most)
    low, high = (torch.full_like(estimate, torch.nan) for _ in range(2))
    for method, make in (
        (Kind.RATE, lambda at: rate_interval(filled[:, at].sum(0), count[at], level)),
        (Kind.SIGNED_RATE, lambda at: _signed(filled[:, at], count[at], level)),
        (Kind.EQUAL, lambda at: _equal(estimate[at], count[at], least[at], most[at], level)),
        (
            Kind.STUDENTISED,
            lambda at: _studentised(filled[:, at], known[:, at], level, resamples, seed),
        ),
    ):
        at = (kind == method).nonzero()[:, 0]
        if len(at):
            low[at], high[at] = make(at)
    # Resamples without the few values that differ show no spread, and few values that are almost
    # equal may lack a rare kind of text: both may miss values anywhere on the scale.
    unbounded = (kind == Kind.STUDENTISED) & ~(low.isfinite() & high.isfinite())
    on_scale = unbounded & least.isfinite() & most.isfinite()
    kind = torch.where(on_scale, torch.full_like(kind, Kind.NARROW), kind)
    unbounded = unbounded & ~on_scale
    narrow = kind == Kind.NARROW
    rough = _equal(estimate, count, least, most, level)
    low, high = (torch.where(narrow, end, old) for end, old in zip(rough, (low, high), strict=True))
    kind = kind.masked_fill(unbounded, Kind.FEW_DIFFERENT)
    low, high = (end.masked_fill(unbounded, torch.nan) for end in (low, high))
    low = torch.where(least.isnan(), low, torch.maximum(low, least))
    high = torch.where(most.isnan(), high, torch.minimum(high, most))
    # Rounding can put the ends beyond the mean.
    low, high = torch.minimum(low, estimate), torch.maximum(high, estimate)
    results = estimate, low, high, (~known).double().mean(0), kind
    return Interval(*(column.reshape(values.shape[1:]) for column in results))


def _limits(limits: Tensor | tuple[float, float] | None, columns: Tensor) -> tuple[Tensor, Tensor]:
    """The smallest and largest possible value of each column, (M,) each."""
    unknown = (torch.nan, torch.nan)
    given = torch.as_tensor(
        unknown if limits is None else limits, dtype=columns.dtype, device=columns.device
    )
    if given.shape[-1:] != (2,) or given.dim() > 2:
        raise InputError(f"limits must be (2,) or (M,2); got {tuple(given.shape)}.")
    least, most = given.expand(columns.shape[1], 2).unbind(1)
    # A value beyond the limits, other than by rounding, shows that they are none.
    beyond = torch.maximum(least - columns, columns - most) > 1e-6 * (most - least)
    least, most = (part.masked_fill(beyond.any(0), torch.nan) for part in (least, most))
    return least, most


def _kinds(columns: Tensor, known: Tensor, least: Tensor, most: Tensor) -> Tensor:
    """How the interval of each column is made, or why it is withheld, (M,)."""
    count = known.sum(0)
    if not len(columns):
        return torch.full_like(count, Kind.NO_VALUE)
    smallest = columns.masked_fill(~known, torch.inf).amin(0)
    largest = columns.masked_fill(~known, -torch.inf).amax(0)

    def only(*allowed: float) -> Tensor:
        return torch.isin(columns, columns.new_tensor(allowed)).logical_or(~known).all(0)

    bounded = least.isfinite() & most.isfinite()
    unequal = smallest < largest
    is_share = torch.where(bounded, (least == 0) & (most == 1), unequal)
    is_difference = torch.where(bounded, (least == -1) & (most == 1), unequal)
    narrow = bounded & (largest - smallest < MIN_SPREAD * (most - least))
    kind = torch.full_like(count, Kind.STUDENTISED)
    # From the weakest rule to the strongest.
    for where, rule in (
        (narrow & (count < FEW_WITH_SPREAD), Kind.NARROW),
        (~unequal, Kind.EQUAL),
        (~unequal & ~bounded, Kind.EQUAL_UNBOUNDED),
        (only(-1, 0, 1) & is_difference, Kind.SIGNED_RATE),
        (only(0, 1) & is_share, Kind.RATE),
        (count < FEW, Kind.FEW),
        (count == 0, Kind.NO_VALUE),
    ):
        kind = torch.where(where, torch.full_like(kind, rule), kind)
    return kind


def _signed(filled: Tensor, count: Tensor, level: float) -> tuple[Tensor, Tensor]:
    return signed_rate_interval((filled == 1).sum(0), (filled == -1).sum(0), count, level)


def _equal(
    value: Tensor, count: Tensor, least: Tensor, most: Tensor, level: float
) -> tuple[Tensor, Tensor]:
    """The ends that other values may give which a sample of this size can miss altogether."""
    unseen = rate_interval(torch.zeros_like(value), count, level)[1]
    return value - unseen * (value - least), value + unseen * (most - value)


def _studentised(
    filled: Tensor, known: Tensor, level: float, resamples: int, seed: int
) -> tuple[Tensor, Tensor]:
    count = known.sum(0).double()
    estimate = filled.sum(0) / count
    error = ((filled - estimate).square() * known).sum(0).div(count - 1).div(count).sqrt()
    lower, upper = studentised_quantiles(filled - estimate, known, level, resamples, seed)
    return estimate - upper * error, estimate - lower * error
