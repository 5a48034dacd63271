"""Rank correlations, batched and masked; import them from attnaudit.statistics.

NaN where they are undefined: a constant vector, fewer than two items, NaN among the scores.
(The report must not import torch: report/charts/measure_matrix.py has its own tau-b in NumPy.)
"""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.errors import InputError
from attnaudit.statistics.inversions import counted_pairs
from attnaudit.statistics.pairs import (
    Pairs,
    Ties,
    check_choice,
    check_scores,
    compared_pairs,
    dense_ranks,
    has_nan,
    in_chunks,
    lower,
    nan_where,
    pairs_of,
    per_rank,
    tau_of,
)

_EXACT = 33  # SciPy's largest n with an exact p-value for every tau
_FEW = 40  # items up to which every pair is compared


def kendall(x: Tensor, y: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Kendall's tau-b and its two-sided p-value (Kendall 1970). 1 same order, -1 reversed.

    tau = (concordant - discordant) / sqrt(pairs untied in x * pairs untied in y). The p-value is
    that of `scipy.stats.kendalltau`: exact without ties if n <= 33 or at most one pair is
    discordant (or concordant), otherwise the normal approximation.

    Parameters
    ----------
    x, y : Tensor, (B,N)
        Scores of the items.
    mask : Tensor, (B,N) bool
        True where an item is real.

    Returns
    -------
    tau, p : Tensor, (B,)
        NaN for a constant vector, fewer than two items or NaN scores.

    Examples
    --------
    >>> x, y = torch.tensor([[1.0, 2.0, 3.0, 4.0]]), torch.tensor([[1.0, 2.0, 4.0, 3.0]])
    >>> tau, p = kendall(x, y, torch.ones(1, 4, dtype=torch.bool))
    >>> tau, p
    (tensor([0.6667], dtype=torch.float64), tensor([0.3333], dtype=torch.float64))
    """
    check_scores(x, y, mask)
    items = x.shape[1]
    if items <= _FEW:  # comparing every pair is then faster than sorting, and as exact
        return in_chunks(_kendall_of_few, x, y, mask, numbers=items**2).unbind(-1)  # type: ignore[return-value]
    return in_chunks(_kendall, x, y, mask).unbind(-1)  # type: ignore[return-value]


def weighted_kendall(
    x: Tensor, y: Tensor, weights: Tensor, mask: Tensor, *, combine: str = "additive"
) -> Tensor:
    """Kendall's tau-b with weighted pairs (Shieh 1998). 1 same order, -1 reversed.

    As `scipy.stats.weightedtau` with given weights.

    Parameters
    ----------
    x, y : Tensor, (B,N)
        Scores of the items.
    weights : Tensor, (B,N)
        Non-negative weights of the items.
    mask : Tensor, (B,N) bool
        True where an item is real.
    combine : {"additive", "multiplicative"}
        A pair counts w_i + w_j or w_i * w_j times.

    Returns
    -------
    Tensor, (B,)
        NaN as for `kendall`, and where the untied pairs of x or of y have no weight (up to 1e-12
        of the total).

    Examples
    --------
    >>> x, y = torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[1.0, 3.0, 2.0]])
    >>> weights = torch.tensor([[0.8, 0.1, 0.1]])
    >>> weighted_kendall(x, y, weights, torch.ones(1, 3, dtype=torch.bool))
    tensor([0.8000], dtype=torch.float64)
    """
    check_scores(x, y, mask, weights=weights)
    check_choice("combine", combine, ("additive", "multiplicative"))
    if (masking.fill(weights, mask) < 0).any():
        raise InputError(
            "weights must not be negative within the mask. Pass, for example, the mean attention."
        )

    def tau(x: Tensor, y: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
        weight = masking.fill(weights.double(), mask)
        other = mask.double() if combine == "additive" else weight
        value = tau_of(pairs_of(dense_ranks(x, mask), dense_ranks(y, mask), weight, other))
        return nan_where(has_nan(mask, x, y, weights), value)

    return in_chunks(tau, x, y, weights, mask)


def spearman(x: Tensor, y: Tensor, mask: Tensor) -> Tensor:
    """Spearman's rho: the correlation of average ranks (Spearman 1904). 1 same order, -1 reversed.

    Parameters
    ----------
    x, y : Tensor, (B,N)
        Scores of the items.
    mask : Tensor, (B,N) bool
        True where an item is real.

    Returns
    -------
    Tensor, (B,)
        NaN as for `kendall`.

    Examples
    --------
    >>> x, y = torch.tensor([[1.0, 2.0, 3.0, 4.0]]), torch.tensor([[1.0, 2.0, 4.0, 3.0]])
    >>> spearman(x, y, torch.ones(1, 4, dtype=torch.bool))
    tensor([0.8000], dtype=torch.float64)
    """
    check_scores(x, y, mask)

    def rho(x: Tensor, y: Tensor, mask: Tensor) -> Tensor:
        a, b = _average_ranks(x, mask), _average_ranks(y, mask)
        a = masking.fill(a - masking.mean(a, mask)[:, None], mask)
        b = masking.fill(b - masking.mean(b, mask)[:, None], mask)
        value = (a * b).sum(-1) / (a.square().sum(-1).sqrt() * b.square().sum(-1).sqrt())
        return nan_where(has_nan(mask, x, y), value.clamp(-1, 1))

    return in_chunks(rho, x, y, mask)


def average_ranks(x: Tensor, mask: Tensor) -> Tensor:
    """The rank of each item, 1 for the lowest score; equal scores share their mean rank.

    Parameters
    ----------
    x : Tensor, (B,N)
        Scores of the items.
    mask : Tensor, (B,N) bool
        True where an item is real.

    Returns
    -------
    Tensor, (B,N)
        0 for masked items; NaN for the real items of an example with a NaN score.

    Examples
    --------
    >>> average_ranks(torch.tensor([[0.2, 0.5, 0.2]]), torch.ones(1, 3, dtype=torch.bool))
    tensor([[1.5000, 3.0000, 1.5000]], dtype=torch.float64)
    """
    check_scores(x, x, mask)

    def ranks(x: Tensor, mask: Tensor) -> Tensor:
        return nan_where(has_nan(mask, x)[:, None] & mask, _average_ranks(x, mask))

    return in_chunks(ranks, x, mask)


def _average_ranks(x: Tensor, mask: Tensor) -> Tensor:
    """Average ranks (B,N) of scores that are not NaN."""
    ranks = dense_ranks(x, mask)
    count = per_rank(ranks, mask.double())
    return masking.fill((lower(count) + (count + 1) / 2).gather(-1, ranks), mask)


def _kendall(x: Tensor, y: Tensor, mask: Tensor) -> Tensor:
    """tau and p: (B,2)."""
    return _tau_and_p(*counted_pairs(x, y, mask), x, y, mask)


def _kendall_of_few(x: Tensor, y: Tensor, mask: Tensor) -> Tensor:
    """As `_kendall`, by comparing every pair."""
    return _tau_and_p(*compared_pairs(x, y, mask), x, y, mask)


def _tau_and_p(
    pairs: Pairs, x_ties: Ties, y_ties: Ties, x: Tensor, y: Tensor, mask: Tensor
) -> Tensor:
    tau = tau_of(pairs)
    p = _p_value(pairs, mask.sum(-1).double(), x_ties, y_ties)
    undefined = has_nan(mask, x, y) | tau.isnan()
    return nan_where(undefined[:, None], torch.stack([tau, p], -1))


def _p_value(pairs: Pairs, n: Tensor, x_ties: Ties, y_ties: Ties) -> Tensor:
    """The two-sided p (B,) of n (B,) items."""
    total = n * (n - 1) / 2
    free = (pairs.untied_x == total) & (pairs.untied_y == total)
    least = torch.minimum(pairs.discordant, total - pairs.discordant)

    table = _exact_table().to(n.device)
    exact = table[n.clamp(max=_EXACT).long(), least.clamp(0, table.shape[1] - 1).long()]
    # Beyond the table only for at most one discordant pair: so have 1 + (n-1) of the n! orders.
    exact = torch.where(n <= _EXACT, exact, torch.exp(np.log(2) - torch.lgamma(n + 1 - least)))

    # Variance of concordant - discordant under ties: Kendall 1970, chapter 4.
    m = n * (n - 1)
    variance = (
        m * (2 * n + 5)
        - x_ties.total(lambda count: 2 * count + 5)
        - y_ties.total(lambda count: 2 * count + 5)
    ) / 18
    variance += 2 * (total - pairs.untied_x) * (total - pairs.untied_y) / m
    triples = [ties.total(lambda count: count - 2) for ties in (x_ties, y_ties)]
    variance += triples[0] * triples[1] / (9 * m * (n - 2))
    normal = torch.erfc(pairs.difference.abs() / (2 * variance).sqrt())
    return torch.where(free & ((n <= _EXACT) | (least <= 1)), exact, normal)


@cache
def _exact_table() -> Tensor:
    """(34, 265): two-sided p of at most c discordant pairs among n items, for 4c <= n(n-1)."""
    width = _EXACT * (_EXACT - 1) // 4 + 1
    chance, rows = np.eye(1, width)[0], [np.ones(width)]
    for n in range(1, _EXACT + 1):
        # Item n comes before 0, 1, … n-1 of the others, each with the same probability.
        chance = np.convolve(chance, np.full(n, 1 / n))[:width]
        rows.append(np.minimum(1, 2 * chance.cumsum()))
    return torch.from_numpy(np.stack(rows))
