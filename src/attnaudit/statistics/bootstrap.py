"""Bootstrap intervals for means over examples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from attnaudit.core import masking, randomness
from attnaudit.core.errors import InputError

_CHUNK = 2**22  # resample counts held at once


class Interval(NamedTuple):
    """A mean over examples with its percentile interval, each () or (M,)."""

    estimate: Tensor
    low: Tensor
    high: Tensor
    nan_share: Tensor  # the share of examples without a value


def bootstrap(
    values: Tensor, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Interval:
    """Percentile bootstrap interval of a mean over examples (Efron 1979).

    Parameters
    ----------
    values : Tensor, (B,) or (B,M)
        NaN are left out of every mean. Columns share their resamples, as paired data must.
    level : float
        The coverage of the interval.
    resamples : int
    seed : int
        Which examples are drawn depends on the seed and B alone.

    Returns
    -------
    Interval
        estimate, low, high and nan_share, each () or (M,). NaN where no value is known; low and
        high also where only one is.

    Examples
    --------
    >>> interval = bootstrap(torch.tensor([0.0, 1.0, 1.0, float("nan")]))
    >>> interval.estimate, interval.nan_share
    (tensor(0.6667, dtype=torch.float64), tensor(0.2500, dtype=torch.float64))
    >>> bool(interval.low < interval.estimate < interval.high)
    True
    """
    if values.dim() not in (1, 2):
        raise InputError(
            f"values must be (B,) or (B,M); got {tuple(values.shape)}. Put the examples first."
        )
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1; got {level}. For 95 % pass 0.95.")
    if resamples < 1:
        raise InputError(f"resamples must be at least 1; got {resamples}. 2000 is usual.")
    columns = values.double() if values.dim() == 2 else values.double()[:, None]
    known = ~columns.isnan()
    filled, weight = masking.fill(columns, known), known.double()
    draws = _resamples(len(values), resamples, seed, values.device)
    means = torch.cat([(drawn @ filled) / (drawn @ weight) for drawn in draws])
    # A resample of NaN alone has no mean and is left out of the percentiles.
    ends = torch.tensor(
        [(1 - level) / 2, (1 + level) / 2], dtype=filled.dtype, device=filled.device
    )
    low, high = means.nanquantile(ends, 0)
    # A single value does not show how far another would be.
    low, high = (end.masked_fill(known.sum(0) < 2, torch.nan) for end in (low, high))
    estimate = filled.sum(0) / weight.sum(0)
    # Rounding can put the ends of equal values beyond their mean.
    low, high = torch.minimum(low, estimate), torch.maximum(high, estimate)
    results = estimate, low, high, (~known).double().mean(0)
    return Interval(*(column.reshape(values.shape[1:]) for column in results))


def _resamples(examples: int, resamples: int, seed: int, device: torch.device) -> Iterator[Tensor]:
    """How often each resample drew each example, (S,B) at a time: means are matrix products."""
    source = randomness.generator(seed, "bootstrap", examples)
    rows = max(1, _CHUNK // max(1, examples))
    for start in range(0, resamples, rows):
        shape = (min(rows, resamples - start), examples)
        drawn = torch.randint(max(1, examples), shape, generator=source)
        counts = torch.zeros(shape, dtype=torch.float64)
        yield counts.scatter_add_(1, drawn, counts.new_ones(()).expand(shape)).to(device)
