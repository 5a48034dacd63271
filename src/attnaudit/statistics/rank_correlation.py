"""Rank correlations, batched and masked; import them from attnaudit.statistics.

NaN where they are undefined: a constant vector, fewer than two items, NaN among the scores.
(The report must not import torch: report/charts/measure_matrix.py has its own tau-b in NumPy.)
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.errors import InputError
from attnaudit.statistics.kendall_p_value import p_value
from attnaudit.statistics.pair_counts import counted_pairs
from attnaudit.statistics.pairs import (
    check_choice,
    check_scores,
    dense_ranks,
    has_nan,
    in_chunks,
    lower,
    nan_where,
    pairs_of,
    per_rank,
    tau_of,
)


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
    return in_chunks(_kendall, x, y, mask, numbers=4 * x.shape[1]).unbind(-1)  # type: ignore[return-value]


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
    first, second = (score.detach().double().cpu().numpy() for score in (x, y))
    real = mask.cpu().numpy()
    pairs = counted_pairs(first, second, real)
    undefined = (pairs.untied_x == 0) | (pairs.untied_y == 0)
    for score in (first, second):
        undefined |= (np.isnan(score) & real).any(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau = pairs.difference / np.sqrt(pairs.untied_x) / np.sqrt(pairs.untied_y)
        both = np.stack([tau.clip(-1, 1), p_value(pairs, real.sum(-1).astype(np.float64))], -1)
    both[undefined] = np.nan
    return torch.from_numpy(both).to(x.device)
