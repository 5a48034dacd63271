"""How far a mean may be trusted: several tests at once, several seeds, texts of other lengths, and how many examples would do."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attnaudit.core import randomness
from attnaudit.core.errors import InputError
from attnaudit.statistics.interval_ends import percentile_ends

_Z = 1.959963984540054  # of a 95 % interval


def benjamini_hochberg(p: Tensor) -> Tensor:
    """Adjusted p-values (M,) of a family of tests: at most 5 % of those at or below 0.05 are false, on average.

    q_(i) = min over j ≥ i of p_(j)·m/j, p in ascending order; NaN are no tests and stay NaN. Benjamini & Hochberg 1995.
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


def over_seeds(values: np.ndarray, *, resamples: int = 2000, seed: int = 0) -> Spread:
    """How sure is a mean, given that another seed would have given another model, and other texts other numbers? values (S,n): a line a
    seed, a column a text, NaN where a seed has no number for it.

    Two levels, crossed, since all seeds see the same texts: seeds are drawn with replacement, and texts with replacement, the same for
    all seeds; the mean is over seeds of the means over texts. With few seeds the interval is a rough one, and with a single seed it
    cannot know of the noise between them: NaN.
    """
    values = np.atleast_2d(np.asarray(values, dtype=float))
    known = ~np.isnan(values)
    if not known.any(1).all():
        return Spread(math.nan, math.nan, math.nan)
    estimate = float(np.mean(np.nanmean(values, axis=1)))
    seeds, texts = values.shape
    if seeds < 2:
        return Spread(estimate, math.nan, math.nan)
    draw = np.random.default_rng(randomness.derive(seed, "seeds and examples"))
    filled = np.where(known, values, 0.0)
    found = []
    for part in np.array_split(
        np.arange(resamples), max(1, resamples * texts // 2**23)
    ):  # memory stays small
        times = draw.multinomial(texts, np.full(texts, 1 / texts), size=len(part))
        with np.errstate(invalid="ignore", divide="ignore"):
            means = (times @ filled.T) / (times @ known.T)  # (resamples,S)
        chosen = draw.integers(seeds, size=means.shape)
        found.append(np.take_along_axis(means, chosen, 1).mean(1))
    return Spread(estimate, *percentile_ends(estimate, np.concatenate(found)))


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
    """mean(first) − mean(second) between texts of like length, one for each column (n,K), (m,K): significance and rank correlations depend
    on length.

    Lengths are cut into `bins` at the quantiles of both together; a bin counts by its texts in both, where both have some, so a
    difference in lengths alone gives 0. NaN where no bin has both.
    """
    if bins < 1:
        raise InputError(f"bins must be at least 1, got {bins}.")
    lengths = np.concatenate([first_length, second_length])
    starts = np.unique(
        lengths
    )  # a bin begins at each of these: one for every length where there are few
    if len(starts) > bins:
        inner = np.quantile(lengths, np.linspace(0, 1, bins + 1)[1:-1], method="higher")
        starts = np.unique([starts[0], *inner])
    draw = np.random.default_rng(randomness.derive(seed, "matched lengths"))
    sums_a, sizes_a = _by_bin(
        first, np.searchsorted(starts, first_length, side="right") - 1, len(starts), resamples, draw
    )
    sums_b, sizes_b = _by_bin(
        second,
        np.searchsorted(starts, second_length, side="right") - 1,
        len(starts),
        resamples,
        draw,
    )
    both = (sizes_a > 0) & (sizes_b > 0)  # (1 + resamples, bins, K)
    weight = np.where(both, sizes_a + sizes_b, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = np.where(both, sums_a / sizes_a - sums_b / sizes_b, 0)
        differences = (weight * gap).sum(1) / weight.sum(1)
    # One value a side says nothing of how far another would lie.
    alone = ((~np.isnan(first)).sum(0) < 2) | ((~np.isnan(second)).sum(0) < 2)
    return [
        Spread(
            float(column[0]), *percentile_ends(math.nan if single else float(column[0]), column[1:])
        )
        for column, single in zip(differences.T, alone, strict=True)
    ]


def _by_bin(
    values: np.ndarray, bin_of: np.ndarray, bins: int, resamples: int, draw: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Sums and counts of the known values (1 + resamples, bins, K): of the data itself, then of every resample. The same draws for all
    columns."""
    count, known = len(values), ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    sums = np.empty((1 + resamples, bins, values.shape[1]))
    sizes = np.empty_like(sums)
    times = np.ones((1, count))
    for start in range(0, 1 + resamples, 256):  # memory stays small
        size = min(256, 1 + resamples - start)
        drawn = draw.multinomial(count, np.full(count, 1 / count), size=size - len(times)).astype(
            float
        )
        times = np.concatenate([times, drawn])
        for at in range(bins):
            here = bin_of == at
            sums[start : start + size, at] = times[:, here] @ filled[here]
            sizes[start : start + size, at] = times[:, here] @ known[here]
        times = np.empty((0, count))
    return sums, sizes


def examples_needed(sd: float, width: float) -> int | None:
    """How many examples give a 95 % interval of this whole width for a mean, by the normal approximation. None if the sd is unknown."""
    if width <= 0:
        raise InputError(f"The width of an interval must be positive, got {width}.")
    if math.isnan(sd):
        return None
    return max(1, math.ceil((2 * _Z * sd / width) ** 2))
