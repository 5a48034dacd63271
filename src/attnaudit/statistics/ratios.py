"""Intervals of ratios of means: both means are over the same examples, and resampled together."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.errors import InputError
from attnaudit.statistics.bootstrap import Interval
from attnaudit.statistics.interval_kinds import FEW, Kind
from attnaudit.statistics.resampling import check_resampling, studentised_quantiles


def bootstrap_ratio(
    numerator: Tensor,
    denominator: Tensor,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Interval of mean(numerator) / mean(denominator) over examples.

    All ratios r for which the mean of numerator − r·denominator is not too far from 0 (Fieller
    1954), by the quantiles of its studentised bootstrap. Withheld (NaN) with fewer than 10
    examples, if the mean of the denominator may be 0, or if the numerator is the same multiple of
    the denominator in every example.

    Parameters
    ----------
    numerator, denominator : Tensor, (B,M)
        An example without one of the two is left out of both.
    level, resamples, seed
        As for `bootstrap`, and the same draws.

    Returns
    -------
    Interval
        estimate, low, high, nan_share and kind, (M,) each.

    Examples
    --------
    >>> above = torch.arange(20.0)[:, None]
    >>> interval = bootstrap_ratio(above, 2 * above + 1)
    >>> round(float(interval.estimate), 3), bool(interval.low < 0.475 < interval.high)
    (0.475, True)
    """
    if numerator.dim() != 2 or numerator.shape != denominator.shape:
        raise InputError(
            "numerator and denominator must both be (B,M); got "
            f"{tuple(numerator.shape)} and {tuple(denominator.shape)}."
        )
    check_resampling(level, resamples)
    known = ~(numerator.isnan() | denominator.isnan())
    count = known.sum(0).double()
    above, below = (part.double().masked_fill(~known, 0.0) for part in (numerator, denominator))
    sign = below.sum(0).sign()  # of a denominator that is made positive
    above, below = above * sign, below * sign
    over, under = above.sum(0) / count, below.sum(0) / count
    estimate = over / under
    residual = (above - estimate * below) * known
    above, below = ((part - mean) * known for part, mean in ((above, over), (below, under)))
    size = above.square().sum(0) + below.square().sum(0)
    same_place = residual.square().sum(0) <= 1e-20 * size
    # Most columns of small samples have no interval, and resampling them would take longest.
    resampled = ((count >= FEW) & (sign != 0) & ~same_place).nonzero()[:, 0]
    quantiles = [torch.full_like(count, torch.nan) for _ in range(2)]
    if len(resampled):
        ends = studentised_quantiles(
            residual[:, resampled], known[:, resampled], level, resamples, seed
        )
        for quantile, end in zip(quantiles, ends, strict=True):
            quantile[resampled] = end
    scale = count * (count - 1)
    variances = [
        (a * b).sum(0) / scale for a, b in ((above, above), (above, below), (below, below))
    ]
    high, low = (_end(quantile, over, under, variances) for quantile in quantiles)
    kind = torch.full_like(count, Kind.STUDENTISED, dtype=torch.long)
    for where, rule in (
        (~(low.isfinite() & high.isfinite()), Kind.NO_ROOM),
        (~(quantiles[0].isfinite() & quantiles[1].isfinite()), Kind.FEW_DIFFERENT),
        (same_place, Kind.SAME_PLACE),
        (sign == 0, Kind.NO_ROOM),
        (count < FEW, Kind.FEW),
        (count == 0, Kind.NO_VALUE),
    ):
        kind = torch.where(where, torch.full_like(kind, rule), kind)
    withheld = kind != Kind.STUDENTISED
    low, high = (end.masked_fill(withheld, torch.nan) for end in (low, high))
    low, high = torch.minimum(low, estimate), torch.maximum(high, estimate)
    return Interval(estimate, low, high, (~known).double().mean(0), kind)


def _end(quantile: Tensor, over: Tensor, under: Tensor, variances: list[Tensor]) -> Tensor:
    """The ratio whose residual mean is `quantile` standard errors from 0: a quadratic equation.

    NaN if the denominator is not that many standard errors above 0: no ratio is ruled out then.
    """
    above, both, below = variances
    square = quantile.square()
    a, b = under.square() - square * below, over * under - square * both
    c = over.square() - square * above
    root = (b.square() - a * c).clamp_min(0).sqrt() * quantile.sign()
    return torch.where(a > 0, (b - root) / a, torch.nan)
