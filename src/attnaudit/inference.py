"""How far a mean may be trusted: several tests at once, several seeds, texts of other lengths, and how many examples would do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attnaudit import randomness
from attnaudit.errors import InputError

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


def over_seeds(values: Sequence[np.ndarray], *, resamples: int = 2000, seed: int = 0) -> Spread:
    """How sure is a mean, given that another seed would have given another model? values: one array of examples a seed.

    Two levels: seeds are drawn with replacement, then examples within each; the mean is over seeds of the means over examples. With
    few seeds the interval is a rough one, and with a single seed it cannot know of the noise between them: NaN.
    """
    kept = [each[~np.isnan(each)] for each in map(np.asarray, values)]
    if any(not len(each) for each in kept):
        return Spread(math.nan, math.nan, math.nan)
    estimate = float(np.mean([each.mean() for each in kept]))
    if len(kept) < 2:
        return Spread(estimate, math.nan, math.nan)
    draw = np.random.default_rng(randomness.derive(seed, "seeds and examples"))
    chosen = draw.integers(len(kept), size=(resamples, len(kept)))
    means = np.empty(chosen.shape)
    for number, each in enumerate(kept):
        at = np.argwhere(chosen == number)
        # Whenever a seed is drawn its examples are drawn anew; in parts, so that memory stays small.
        for part in np.array_split(at, max(1, len(at) * len(each) // 2**22)):
            drawn = each[draw.integers(len(each), size=(len(part), len(each)))]
            means[part[:, 0], part[:, 1]] = drawn.mean(1)
    low, high = np.quantile(means.mean(-1), [0.025, 0.975])
    return Spread(estimate, float(low), float(high))


def length_matched(
    first: np.ndarray,
    first_length: np.ndarray,
    second: np.ndarray,
    second_length: np.ndarray,
    *,
    bins: int = 10,
    resamples: int = 2000,
    seed: int = 0,
) -> Spread:
    """mean(first) − mean(second) between texts of like length: significance and rank correlations depend on it.

    Lengths are cut into `bins` at the quantiles of both together; a bin counts by its texts in both, where both have some, so a
    difference in lengths alone gives 0. NaN where no bin has both.
    """
    if bins < 1:
        raise InputError(f"bins must be at least 1, got {bins}.")
    a, b = ~np.isnan(first), ~np.isnan(second)
    first, first_length, second, second_length = first[a], first_length[a], second[b], second_length[b]
    if not len(first) or not len(second):
        return Spread(math.nan, math.nan, math.nan)
    lengths = np.concatenate([first_length, second_length])
    starts = np.unique(lengths)  # a bin begins at each of these: one for every length where there are few
    if len(starts) > bins:
        inner = np.quantile(lengths, np.linspace(0, 1, bins + 1)[1:-1], method="higher")
        starts = np.unique([starts[0], *inner])
    first_bin = np.searchsorted(starts, first_length, side="right") - 1
    second_bin = np.searchsorted(starts, second_length, side="right") - 1
    count = len(starts)
    draw = np.random.default_rng(randomness.derive(seed, "matched lengths"))

    def resampled(values: np.ndarray, bin_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sums and counts by bin: of the data itself, then of every resample."""
        in_bin = np.zeros((len(values), count))
        in_bin[np.arange(len(values)), bin_of] = 1
        times = draw.multinomial(len(values), np.full(len(values), 1 / len(values)), size=resamples)
        times = np.concatenate([np.ones((1, len(values))), times])
        return (times * values) @ in_bin, times @ in_bin

    sums_a, sizes_a = resampled(first, first_bin)
    sums_b, sizes_b = resampled(second, second_bin)
    both = (sizes_a > 0) & (sizes_b > 0)
    weight = np.where(both, sizes_a + sizes_b, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = np.where(both, sums_a / sizes_a - sums_b / sizes_b, 0)
        differences = (weight * gap).sum(-1) / weight.sum(-1)
    if np.isnan(differences[0]):
        return Spread(math.nan, math.nan, math.nan)
    low, high = np.nanquantile(differences[1:], [0.025, 0.975])
    return Spread(float(differences[0]), float(low), float(high))


def examples_needed(sd: float, width: float) -> int | None:
    """How many examples give a 95 % interval of this whole width for a mean, by the normal approximation. None if the sd is unknown."""
    if width <= 0:
        raise InputError(f"The width of an interval must be positive, got {width}.")
    if math.isnan(sd):
        return None
    return max(1, math.ceil((2 * _Z * sd / width) ** 2))
