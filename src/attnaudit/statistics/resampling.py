"""Resamples of examples, and the ends of studentised (bootstrap-t) intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from statistics import NormalDist

import torch
from torch import Tensor

from attnaudit.core import randomness
from attnaudit.core.errors import InputError
from attnaudit.core.sorting import sort_in_place

CHUNK = 2**22  # resample counts held at once
_REMEMBERED = 2**19  # resample counts, 4 MB, up to which draws are kept for the next columns
LARGE = 10_000  # examples, beyond which the quantiles of resamples have a closed form
_MOST_SKEWED = 0.05  # skewness / √n


def check_resampling(level: float, resamples: int) -> None:
    """Reject a level or a number of resamples that makes no interval."""
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1; got {level}. For 95 % pass 0.95.")
    if resamples < 1:
        raise InputError(f"resamples must be at least 1; got {resamples}. 2000 is usual.")


def resample_counts(
    examples: int, resamples: int, seed: int, device: torch.device
) -> Iterator[Tensor]:
    """How often each resample drew each example, (S,B) at a time: means are matrix products.

    The next part is written over the one before. To be read only.

    Which examples are drawn depends on the seed and the number of examples alone, so that columns
    share their resamples, as paired data must.
    """
    if resamples * examples <= _REMEMBERED:
        yield _few_counts(examples, resamples, seed).to(device)
    else:
        for counts in _draw(examples, resamples, seed):
            yield counts.to(device)


@lru_cache(maxsize=8)
def _few_counts(examples: int, resamples: int, seed: int) -> Tensor:
    """All of `resample_counts`, (S,B): a summary asks for the same ones again and again."""
    return next(_draw(examples, resamples, seed))


def _draw(examples: int, resamples: int, seed: int) -> Iterator[Tensor]:
    source = randomness.generator(seed, "bootstrap", examples)
    rows = max(1, min(resamples, CHUNK // max(1, examples)))
    # Allocated once: hundreds of tensors of this size would leave holes in the memory.
    drawn = torch.empty(rows, examples, dtype=torch.int64)
    counts = torch.empty(rows, examples, dtype=torch.float64)
    one = counts.new_ones(())
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        shape = (size, examples)
        torch.randint(max(1, examples), shape, generator=source, out=drawn[:size])
        counts[:size] = 0
        yield counts[:size].scatter_add_(1, drawn[:size], one.expand(shape))


def studentised_quantiles(
    centred: Tensor, known: Tensor, level: float, resamples: int, seed: int
) -> tuple[Tensor, Tensor]:
    """Quantiles (M,) of the studentised means of resamples, at both ends of the level.

    Parameters
    ----------
    centred, known : Tensor, (B,M)
        Values with mean 0 over the known ones, so that squares lose no digits.
    level, resamples, seed
        As for `bootstrap`.
    """
    centred = centred.masked_fill(~known, 0.0)
    if len(centred) > LARGE:
        closed, (lower, upper) = _expanded_quantiles(centred, known, level)
        if not closed.all():  # the few columns whose values are too skewed
            rest = (~closed).nonzero()[:, 0]
            lower[rest], upper[rest] = _drawn_quantiles(
                centred[:, rest], known[:, rest], level, resamples, seed
            )
        return lower, upper
    return _drawn_quantiles(centred, known, level, resamples, seed)


def _expanded_quantiles(
    centred: Tensor, known: Tensor, level: float
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """The quantiles that infinitely many resamples would give, up to terms of order 1/n.

    The Cornish–Fisher expansion of the studentised mean (Hall 1988): z − γ(2z² + 1)/6√n, with γ the
    skewness of the values. Beyond `LARGE` examples what it leaves out is far less than the
    Monte-Carlo error of 2,000 resamples, as long as γ/√n is small.

    Returns
    -------
    Where it holds, (M,) bool, and both quantiles, (M,) each.
    """
    count = known.sum(0).double()
    variance = centred.square().sum(0) / count
    skewness = (centred**3).sum(0) / count / variance**1.5 / count.sqrt()
    z = NormalDist().inv_cdf((1 + level) / 2)
    shift = -skewness * (2 * z * z + 1) / 6
    holds = (skewness.abs() < _MOST_SKEWED) & (count > LARGE)
    return holds, (shift - z, shift + z)


def _drawn_quantiles(
    centred: Tensor, known: Tensor, level: float, resamples: int, seed: int
) -> tuple[Tensor, Tensor]:
    squared, count = centred.square(), known.sum(0).double()
    spread = squared.sum(0) / (count - 1) / count  # squared standard error
    patterns, pattern_of = _patterns(known)
    parts = []
    for drawn in resample_counts(len(centred), resamples, seed, centred.device):
        sizes = drawn @ patterns
        size = sizes.masked_fill(sizes < 2, torch.nan)[:, pattern_of]
        shift = (drawn @ centred) / size
        variance = ((drawn @ squared) / size - shift.square()) / (size - 1)
        parts.append(studentise(shift, variance, spread))
    return tail_quantiles(torch.cat(parts), level)


def _patterns(known: Tensor) -> tuple[Tensor, Tensor]:
    """The different columns of known (B,M), and which of them each column is: mostly few."""
    numbers: dict[bytes, int] = {}
    columns = known.T.contiguous().cpu().numpy()
    pattern_of = [numbers.setdefault(column.tobytes(), len(numbers)) for column in columns]
    first = [pattern_of.index(number) for number in range(len(numbers))]
    return known[:, first].double(), torch.tensor(pattern_of, device=known.device)


def studentise(shift: Tensor, variance: Tensor, spread: Tensor) -> Tensor:
    """Distances of resampled estimates from the estimate in their own standard errors, (S,M).

    Parameters
    ----------
    shift : Tensor, (S,M)
        Resampled minus original estimate; NaN if the resample has none.
    variance : Tensor, (S,M)
        Squared standard error of the resampled estimate.
    spread : Tensor, (M,)
        Squared standard error of the original estimate. A resample with next to none is
        degenerate (one value drawn again and again): infinitely far on its side.
    """
    degenerate = (variance <= 1e-12 * spread) & (shift != 0)
    t = shift / variance.clamp_min(1e-300).sqrt_()
    return torch.where(degenerate, shift * math.inf, t)


def tail_quantiles(t: Tensor, level: float) -> tuple[Tensor, Tensor]:
    """The quantiles (M,) of t (S,M) at both ends of the level, leaving NaN out.

    Order statistics, not interpolated, since the tails may be infinite. NaN if all are NaN.
    """
    known = (~t.isnan()).sum(0)
    tail = ((1 - level) / 2 * known).floor().long()  # resamples beyond each end
    ordered = sort_in_place(t.detach().T.clone(memory_format=torch.contiguous_format))
    lower, upper = (
        ordered.gather(1, place.clamp_min(0)[:, None])[:, 0] for place in (tail, known - 1 - tail)
    )
    return lower, upper
