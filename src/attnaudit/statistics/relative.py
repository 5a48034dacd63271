"""Where a mean lies between its floor and its ceiling, with an interval."""

from __future__ import annotations

from statistics import NormalDist

import torch
from torch import Tensor

from attnaudit.statistics.bootstrap import Interval
from attnaudit.statistics.interval_kinds import Kind
from attnaudit.statistics.rates import rate_interval
from attnaudit.statistics.ratios import bootstrap_ratio

_MIN_ROOM = 4.0  # standard errors
_BY_COUNTS = (Kind.RATE, Kind.SIGNED_RATE, Kind.EQUAL, Kind.NARROW)
_FEW_PLACES = (Kind.SAME_PLACE, Kind.FEW_DIFFERENT)
_FEW_VALUES = (Kind.EQUAL_UNBOUNDED, Kind.FEW_DIFFERENT)


def relative_interval(
    value: Tensor,
    floor: Tensor,
    ceiling: Tensor,
    interval: Interval,
    *,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Interval of (mean − floor) / (ceiling − floor), with floor and ceiling resampled too.

    By `bootstrap_ratio` in general. A mean whose interval comes from counts (a rate, or equal
    values) keeps that interval, and the noise of floor and ceiling is added to it, with their
    correlation (Zou & Donner 2008). If (almost) every text is at the same place, as for a perfect
    heatmap, the places count as those of a rate between 0 and 1 (Wilson), which no distribution on
    that range exceeds in variance: the interval is too wide rather than too narrow. Withheld where
    the interval of the mean is, for want of values.

    Parameters
    ----------
    value, floor, ceiling : Tensor, (B,M)
        An example without one of the three is left out.
    interval : Interval, (M,)
        Of the mean of each column of `value`.
    level, seed
        As for `bootstrap`.

    Returns
    -------
    Interval
        (M,) each.

    Examples
    --------
    >>> from attnaudit.statistics import bootstrap
    >>> value = torch.linspace(0.2, 0.8, 40)[:, None]
    >>> found = relative_interval(value, 0 * value, 0 * value + 2, bootstrap(value))
    >>> round(float(found.estimate), 2), bool(found.low < 0.25 < found.high)
    (0.25, True)
    """
    value, floor, ceiling = (part.double() for part in (value, floor, ceiling))
    ratio = bootstrap_ratio(value - floor, ceiling - floor, level=level, seed=seed)
    has_room = ~torch.isin(ratio.kind, torch.tensor([Kind.NO_VALUE, Kind.FEW])) & _has_room(
        ceiling - floor + 0 * value
    )
    by_counts = torch.isin(interval.kind, torch.tensor(_BY_COUNTS)) & has_room
    kind = torch.where(by_counts, interval.kind, ratio.kind)
    # Values that are all equal have no interval on an unknown scale; their place may have one.
    known = (interval.kind == Kind.EQUAL_UNBOUNDED) & (ratio.kind == Kind.STUDENTISED)
    kind = torch.where((interval.kind >= Kind.NO_VALUE) & ~known, interval.kind, kind)
    # A single text far from the rest can leave the studentised bootstrap without an end.
    no_end = (ratio.kind == Kind.NO_ROOM) & has_room
    same = (torch.isin(ratio.kind, torch.tensor(_FEW_PLACES)) | no_end) & ~by_counts
    same &= (interval.kind < Kind.NO_VALUE) | torch.isin(interval.kind, torch.tensor(_FEW_VALUES))
    kind = torch.where(same, torch.full_like(kind, Kind.PLACES), kind)
    below, above = _reach_of_counts(value, floor, ceiling, ratio.estimate, interval, level)
    low = torch.where(by_counts, ratio.estimate - below, ratio.low)
    high = torch.where(by_counts, ratio.estimate + above, ratio.high)
    places = _interval_of_places(value, floor, ceiling, ratio.estimate, level)
    low, high = (
        torch.where(same, ours, end) for ours, end in zip(places, (low, high), strict=True)
    )
    low, high = (end.masked_fill(kind >= Kind.NO_VALUE, torch.nan) for end in (low, high))
    return Interval(ratio.estimate, low, high, ratio.nan_share, kind)


def _has_room(room: Tensor) -> Tensor:
    """Whether the mean distance from floor to ceiling (B,M) is clearly not 0, (M,)."""
    known = ~room.isnan()
    count = known.sum(0)
    mean = room.nan_to_num().sum(0) / count
    squared_error = ((room - mean).nan_to_num().square() * known).sum(0) / (count - 1) / count
    return mean.abs() > _MIN_ROOM * squared_error.sqrt()


def _reach_of_counts(
    value: Tensor,
    floor: Tensor,
    ceiling: Tensor,
    relative: Tensor,
    interval: Interval,
    level: float,
) -> tuple[Tensor, Tensor]:
    """How far the interval of the mean and the noise of its bounds reach down and up, (M,)."""
    known = ~(value.isnan() | floor.isnan() | ceiling.isnan())
    count = known.sum(0)
    bounds = (-(1 - relative) * floor - relative * ceiling).masked_fill(~known, 0.0)
    centred = (bounds - bounds.sum(0) / count) * known
    own = value.masked_fill(~known, 0.0)
    own = (own - own.sum(0) / count) * known
    squares = centred.square().sum(0)
    noise = NormalDist().inv_cdf((1 + level) / 2) * (squares / (count * (count - 1))).sqrt()
    together = (own.square().sum(0) * squares).sqrt()
    correlation = torch.where(together > 0, (own * centred).sum(0) / together, 0.0)
    room = (ceiling - floor).masked_fill(~known, 0.0).sum(0) / count
    down, up = interval.estimate - interval.low, interval.high - interval.estimate
    down, up = torch.where(room < 0, up, down), torch.where(room < 0, down, up)
    squared = [
        part.square() + noise.square() + 2 * correlation * part * noise for part in (down, up)
    ]
    reaches = [part.clamp_min(0).sqrt() / room.abs() for part in squared]
    return reaches[0], reaches[1]


def _interval_of_places(
    value: Tensor, floor: Tensor, ceiling: Tensor, relative: Tensor, level: float
) -> tuple[Tensor, Tensor]:
    """The interval of a mean of places between 0 and 1, each weighted by its room, (M,) each."""
    known = ~(value.isnan() | floor.isnan() | ceiling.isnan())
    room = (ceiling - floor).masked_fill(~known, 0.0).abs()
    effective = room.sum(0).square() / room.square().sum(0)
    low, high = rate_interval(relative.clamp(0, 1) * effective, effective, level)
    return torch.minimum(low, relative), torch.maximum(high, relative)
