"""The ends of a percentile interval: ordered, with the estimate between them."""

from __future__ import annotations

import math

import numpy as np


def percentile_ends(
    estimate: float, resampled: np.ndarray, *, level: float = 0.95
) -> tuple[float, float]:
    """(low, high) of the resampled statistics (S,), widened to contain the estimate.

    Resamples without a value are left out; NaN if none is left, or if the estimate is NaN.
    Rounding, or a statistic that is biased in resamples, can put the estimate just outside of the
    percentiles; a wider interval covers the truth at least as often.
    """
    known = resampled[~np.isnan(resampled)]
    if math.isnan(estimate) or not len(known):
        return math.nan, math.nan
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return min(float(low), estimate), max(float(high), estimate)
