"""Means over seeds and texts, with intervals that account for the noise of both."""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy.special import stdtrit  # not scipy.stats, which takes long to import

from attnaudit.statistics.bootstrap import bootstrap


def over_seeds_of_columns(
    values: np.ndarray,
    *,
    limits: tuple[float, float] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`over_seeds` of M metrics at once, (S,n,M): estimates, low and high ends, (M,) each.

    Examples
    --------
    >>> values = np.random.default_rng(0).normal(size=(3, 50, 2)) + [0, 1]
    >>> estimate, low, high = over_seeds_of_columns(values)
    >>> bool((low < estimate).all() and (estimate < high).all())
    True
    """
    known = ~np.isnan(values)
    seeds = len(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        filled = np.where(known, values, 0.0)
        of_seed = filled.sum(1) / known.sum(1)  # (S,M)
        estimate = of_seed.mean(0)
        gaps = np.where(known, values - of_seed[:, None], 0.0)
        of_text = gaps.sum(0) / known.sum(0)  # (n,M), NaN where no seed has the text
        count = (~np.isnan(of_text)).sum(0)
        residual = np.where(known, gaps - of_text, 0.0)
        size = known.sum((0, 1))
        noise = (residual**2).sum((0, 1)) / np.maximum(1, size - seeds - count + 1) / size / 2
        # Without gaps the plain means, so that rates stay exactly 0 and 1.
        plain = np.where(known.all((0, 1)), values.mean(0), of_text + estimate)
        if seeds < 2:
            return estimate, np.full_like(estimate, np.nan), np.full_like(estimate, np.nan)
        interval = bootstrap(
            torch.from_numpy(plain), limits=limits, level=level, resamples=resamples, seed=seed
        )
        centred = np.nan_to_num(plain - np.nansum(plain, 0) / count)
        squared_error = (centred**2).sum(0) / (count - 1) / count
        share = np.where(squared_error > 0, np.maximum(0.0, 1 - noise / squared_error), 1.0)
    t = float(stdtrit(seeds - 1, (1 + level) / 2))
    between = t**2 * np.maximum(0.0, of_seed.var(0, ddof=1) / seeds - noise)
    middle, low, high = (part.numpy() for part in interval[:3])
    low = estimate - np.sqrt(between + share * (middle - low) ** 2)
    high = estimate + np.sqrt(between + share * (high - middle) ** 2)
    if limits is not None:
        low, high = np.maximum(low, limits[0]), np.minimum(high, limits[1])
    return estimate, low, high


def over_trainings(values: np.ndarray, *, level: float = 0.95) -> tuple[float, float, float]:
    """Mean of one value per training and its interval (t); NaN ends with fewer than two.

    For values that have no texts, such as an accuracy or a weighted tau over ranks; NaN values are
    left out.

    Examples
    --------
    >>> [round(end, 3) for end in over_trainings(np.array([0.1, 0.2, 0.3]))]
    [0.2, -0.048, 0.448]
    """
    known = values[~np.isnan(values)]
    if not len(known):
        return math.nan, math.nan, math.nan
    mean = float(known.mean())
    if len(known) < 2:
        return mean, math.nan, math.nan
    error = float(known.std(ddof=1)) / math.sqrt(len(known))
    half = float(stdtrit(len(known) - 1, (1 + level) / 2)) * error
    return mean, mean - half, mean + half
