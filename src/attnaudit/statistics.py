"""Every statistic of the audits: rank correlations, distances between distributions, entropy, bootstrap.

Batched and masked; computed and returned in float64, whatever float comes in.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from attnaudit import masking, randomness
from attnaudit.errors import InputError
from attnaudit.rank_correlation import average_ranks, kendall, spearman, weighted_kendall
from attnaudit.top_k import overlap_at_k, top_k_kendall

__all__ = [
    "Interval",
    "average_ranks",
    "bootstrap",
    "entropy",
    "jsd",
    "kendall",
    "overlap_at_k",
    "spearman",
    "top_k_kendall",
    "tvd",
    "weighted_kendall",
]

_CHUNK = 2**22  # resample counts held at once


def tvd(p: Tensor, q: Tensor) -> Tensor:
    """How far apart are two distributions (…,N)? (…), half the L1 distance: 0 the same, 1 disjoint."""
    return (p.double() - q.double()).abs().sum(-1) / 2


def jsd(p: Tensor, q: Tensor, mask: Tensor | None = None) -> Tensor:
    """How far apart are two distributions (…,N), in nats? (…), 0 the same, ln 2 disjoint; leading dims broadcast.

    JSD = H((p + q) / 2) - (H(p) + H(q)) / 2, with 0 log 0 = 0. Lin 1991.
    Where p = 0 < q the true slope in p is -inf; autograd gives a finite one of the same sign (about -354).
    """
    p, q = p.double(), q.double()
    if mask is not None:
        p, q = masking.fill(p, mask), masking.fill(q, mask)
    # Summed item by item: each term is >= 0 and nothing large cancels.
    terms = (_x_log_x(p) + _x_log_x(q)) / 2 - _x_log_x((p + q) / 2)
    return _within(terms.sum(-1), math.log(2))


def entropy(p: Tensor, mask: Tensor, normalised: bool = True) -> Tensor:
    """How spread out is p (…,N) over the real items? (…), -sum p log p in nats, divided by log N if normalised.

    0 all on one item, 1 (log N) uniform, N the real items. p is scaled to sum to 1 first, as scipy.stats.entropy
    does; NaN if it sums to 0. Normalised, NaN with fewer than two items: one has no dispersion to speak of.
    """
    p = masking.renormalise(p.double(), mask)
    count = mask.sum(-1)
    value = _within(-_x_log_x(p).sum(-1), count.double().log())
    return (
        torch.where(count > 1, value / count.clamp_min(2).double().log(), torch.nan) if normalised else value
    )


class Interval(NamedTuple):
    """A mean over examples with its percentile interval; nan_share is the share of examples without a value."""

    estimate: Tensor  # () or (M,), as the three others
    low: Tensor
    high: Tensor
    nan_share: Tensor


def bootstrap(values: Tensor, *, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> Interval:
    """How sure is the mean over examples of values (B,) or (B,M)? Its percentile bootstrap interval. Efron 1979.

    NaN are left out of every mean and counted in nan_share; the rest is NaN where nothing is left, and so is the interval of a single value. Columns share
    their resamples, as paired data must. Which examples are drawn depends on seed and B alone.
    """
    if values.dim() not in (1, 2):
        raise InputError(f"values must be (B,) or (B,M); got {tuple(values.shape)}. Put the examples first.")
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
    ends = torch.tensor([(1 - level) / 2, (1 + level) / 2], dtype=filled.dtype, device=filled.device)
    low, high = means.nanquantile(ends, 0)
    # One value says nothing of how far another would lie.
    low, high = (end.masked_fill(known.sum(0) < 2, torch.nan) for end in (low, high))
    results = filled.sum(0) / weight.sum(0), low, high, (~known).double().mean(0)
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


def _x_log_x(x: Tensor) -> Tensor:
    """x log x, 0 at 0; the floor inside the logarithm leaves the value exact and keeps the gradient finite there."""
    return torch.special.xlogy(x, x.clamp_min(torch.finfo(x.dtype).tiny))


def _within(value: Tensor, most: Tensor | float) -> Tensor:
    """value in [0, most] with rounding cut off; the gradient goes through, where clamp alone would make it 0."""
    limit = torch.as_tensor(most, dtype=value.dtype, device=value.device)
    return value + (value.clamp(torch.zeros_like(limit), limit) - value).detach()
