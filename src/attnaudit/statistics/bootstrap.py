"""The interval of a mean over examples, by resampling them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from attnaudit.core import masking, randomness
from attnaudit.core.errors import InputError

_CHUNK = 2**22  # resample counts held at once


class Interval(NamedTuple):
    """A mean over examples with its percentile interval; nan_share is the share of examples without a value."""

    estimate: Tensor  # () or (M,), as the three others
    low: Tensor
    high: Tensor
    nan_share: Tensor


def bootstrap(
    values: Tensor, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Interval:
    """How sure is the mean over examples of values (B,) or (B,M)? Its percentile bootstrap interval. Efron 1979.

    NaN are left out of every mean and counted in nan_share; the rest is NaN where nothing is left, and so is the interval of a single value. Columns share
    their resamples, as paired data must. Which examples are drawn depends on seed and B alone.
    """
    if values.dim() not in (1, 2):
        raise InputError(
            f"values must be (B,) or (B,M); got {tuple(values.shape)}. Put the examples first."
        )
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1; got {level}. For 95 % pass 0.95.")
    if resamples < 1:
        raise InputError(f"resamples must be at least 1; got {resamples}. 2000 is usual.")
    columns = values.double() if values.dim() == 2 else values.double()[:, None]
    known = ~columns.isnan()
    filled, weight = masking.fill(columns, known), known.double()
    draws = _resamples(len(values), resamples, seed, values.device)
    means = torch.cat([(drawn @ filled) / (drawn @ weight) for drawn in draws])
    # A resample that drew only NaN has no mean and is left out of the percentiles.
    ends = torch.tensor(
        [(1 - level) / 2, (1 + level) / 2], dtype=filled.dtype, device=filled.device
    )
    low, high = means.nanquantile(ends, 0)
    # One value says nothing of how far another would lie.
    low, high = (end.masked_fill(known.sum(0) < 2, torch.nan) for end in (low, high))
    estimate = filled.sum(0) / weight.sum(0)
    # Rounding alone can put the ends of equal values past their mean.
    low, high = torch.minimum(low, estimate), torch.maximum(high, estimate)
    results = estimate, low, high, (~known).double().mean(0)
    return Interval(*(each.reshape(values.shape[1:]) for each in results))


def _resamples(examples: int, resamples: int, seed: int, device: torch.device) -> Iterator[Tensor]:
    """How often each resample drew each example, (S,B) at a time: the means are then one matrix product."""
    source = randomness.generator(seed, "bootstrap", examples)
    rows = max(1, _CHUNK // max(1, examples))
    for start in range(0, resamples, rows):
        shape = (min(rows, resamples - start), examples)
        drawn = torch.randint(max(1, examples), shape, generator=source)
        counts = torch.zeros(shape, dtype=torch.float64)
        yield counts.scatter_add_(1, drawn, counts.new_ones(()).expand(shape)).to(device)
