"""How reliable a mean is: multiple tests, several seeds, lengths of texts, sample size."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attnaudit.core import randomness
from attnaudit.core.errors import InputError
from attnaudit.statistics.interval_ends import percentile_ends
from attnaudit.statistics.interval_kinds import FEW
from attnaudit.statistics.seeds import over_seeds_of_columns

_Z = 1.959963984540054  # the normal quantile of a 95 % interval


def benjamini_hochberg(p: Tensor) -> Tensor:
    """Adjust the p-values of a family of tests (Benjamini & Hochberg 1995).

    Of the adjusted values at or below 0.05, at most 5 % are false discoveries on average:
    q_(i) = min over j ≥ i of p_(j)·m/j, with p in ascending order.

    Parameters
    ----------
    p : Tensor, (M,)
        NaN are not tests and stay NaN.

    Returns
    -------
    Tensor, (M,)

    Examples
    --------
    >>> benjamini_hochberg(torch.tensor([0.01, 0.04, 0.5]))
    tensor([0.0300, 0.0600, 0.5000], dtype=torch.float64)
    """
    known = ~p.isnan()
    tests = p[known].double()
    order = tests.argsort()
    rank = torch.arange(1, len(tests) + 1, dtype=torch.float64, device=p.device)
    raised = (tests[order] * len(tests) / rank).flip(0).cummin(0).values.flip(0).clamp_max(1.0)
    adjusted = torch.full(p.shape, torch.nan, dtype=torch.float64, device=p.device)
    adjusted[known] = torch.empty_like(tests).scatter(0, order, raised)
    return adjusted


class Spread(NamedTuple):
    """A mean with its 95 % interval."""

    estimate: float
    low: float
    high: float


def over_seeds(
    values: np.ndarray,
    *,
    limits: tuple[float, float] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Spread:
    """A mean over seeds and texts with its interval.

    Seeds and texts are crossed, since all seeds see the same texts. Each end is as far from the
    mean as both kinds of noise reach together: reach² = t²·(var(m_s)/S − e) + (1 − e/v)·r², where
    m_s are the means of the S seeds, t is the quantile of Student's t with S − 1 degrees of
    freedom, r is the reach of the interval of the texts' means over seeds (see `bootstrap`), v
    their squared standard error, and e half the squared standard error of the residuals, which
    both kinds of means contain. Withheld (NaN) with one seed, whose noise is unknown, or where
    `bootstrap` withholds the interval of the texts.

    Parameters
    ----------
    values : array, (S,n)
        One row per seed, one column per text; NaN where a seed has no value for a text.
    limits : (float, float), optional
        The smallest and largest possible value.
    level : float
    resamples, seed : int
        Of the texts.

    Returns
    -------
    Spread
        The mean over seeds of the means over texts, and the ends of the interval.

    Examples
    --------
    >>> spread = over_seeds(np.array([[0.0, 1.0, 1.0] * 5, [1.0, 1.0, 0.0] * 5]))
    >>> round(spread.estimate, 4)
    0.6667
    """
    values = np.atleast_2d(np.asarray(values, dtype=float))
    spread = over_seeds_of_columns(
        values[:, :, None], limits=limits, level=level, resamples=resamples, seed=seed
    )
    return Spread(*(float(part[0]) for part in spread))


def length_matched(
    first: np.ndarray,
    first_length: np.ndarray,
    second: np.ndarray,
    second_length: np.ndarray,
    *,
    bins: int = 10,
    resamples: int = 2000,
    seed: int = 0,
) -> list[Spread]:
    """mean(first) - mean(second) between texts of similar length, with bootstrap intervals.

    Rank correlations and their significance depend on length; a difference in lengths alone gives
    0 here. Lengths are cut into bins at the quantiles of both groups together; a bin in which both
    groups have texts is weighted by their number.

    Parameters
    ----------
    first : array, (n,K)
    first_length : array, (n,)
    second : array, (m,K)
    second_length : array, (m,)
    bins : int
        One bin per length if there are no more lengths than this.
    resamples : int
    seed : int

    Returns
    -------
    list of Spread
        One per column; NaN if no bin has texts of both groups. The interval is withheld (NaN) with
        fewer than 10 values in either group.

    Examples
    --------
    >>> length = np.array([3, 3, 8, 8])
    >>> values = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> (spread,) = length_matched(values + 1, length, values, length)
    >>> spread.estimate
    1.0
    """
    if bins < 1:
        raise InputError(f"bins must be at least 1, got {bins}.")
    lengths = np.concatenate([first_length, second_length])
    starts = np.unique(lengths)  # of the bins
    if len(starts) > bins:
        inner = np.quantile(lengths, np.linspace(0, 1, bins + 1)[1:-1], method="higher")
        starts = np.unique([starts[0], *inner])
    draw = np.random.default_rng(randomness.derive(seed, "matched lengths"))
    first_bin, second_bin = (
        np.searchsorted(starts, length, side="right") - 1
        for length in (first_length, second_length)
    )
    sums_a, sizes_a = _by_bin(first, first_bin, len(starts), resamples, draw)
    sums_b, sizes_b = _by_bin(second, second_bin, len(starts), resamples, draw)
    both = (sizes_a > 0) & (sizes_b > 0)  # (1 + resamples, bins, K)
    weight = np.where(both, sizes_a + sizes_b, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = np.where(both, sums_a / sizes_a - sums_b / sizes_b, 0)
        differences = (weight * gap).sum(1) / weight.sum(1)
    # Few values in a group do not show how far others would be.
    alone = ((~np.isnan(first)).sum(0) < FEW) | ((~np.isnan(second)).sum(0) < FEW)
    return [
        Spread(
            float(column[0]), *percentile_ends(math.nan if single else float(column[0]), column[1:])
        )
        for column, single in zip(differences.T, alone, strict=True)
    ]


def _by_bin(
    values: np.ndarray, bin_of: np.ndarray, bins: int, resamples: int, draw: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Sums and counts of known values, (1 + resamples, bins, K): of the data, then resampled.

    All columns share the draws.
    """
    count, known = len(values), ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    sums = np.empty((1 + resamples, bins, values.shape[1]))
    sizes = np.empty_like(sums)
    times = np.ones((1, count))
    for start in range(0, 1 + resamples, 256):  # to bound the memory
        size = min(256, 1 + resamples - start)
        drawn = draw.multinomial(count, np.full(count, 1 / count), size=size - len(times)).astype(
            float
        )
        times = np.concatenate([times, drawn])
        for index in range(bins):
            inside = bin_of == index
            sums[start : start + size, index] = times[:, inside] @ filled[inside]
            sizes[start : start + size, index] = times[:, inside] @ known[inside]
        times = np.empty((0, count))
    return sums, sizes


def examples_needed(sd: float, width: float) -> int | None:
    """How many examples give a 95 % interval of a mean this total width (normal approximation).

    None if the standard deviation is NaN.

    Examples
    --------
    >>> examples_needed(sd=0.5, width=0.1)
    385
    """
    if width <= 0:
        raise InputError(f"The width of an interval must be positive, got {width}.")
    if math.isnan(sd):
        return None
    return max(1, math.ceil((2 * _Z * sd / width) ** 2))
