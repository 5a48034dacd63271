"""Do two score vectors rank the items alike? Batched and masked; import these from attnaudit.statistics.

NaN where there is no answer: a constant vector, fewer than two items, NaN among the scores.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.errors import InputError
from attnaudit.statistics.pairs import (
    Pairs,
    check_choice,
    check_scores,
    dense_ranks,
    has_nan,
    in_chunks,
    lower,
    pairs_of,
    per_rank,
    tau_of,
    unless,
)

_EXACT = 33  # SciPy's largest n with an exact p-value for every tau


def kendall(x: Tensor, y: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Do x and y order the items alike? Kendall's tau-b and its two-sided p-value, each (B,).

    tau = (concordant - discordant) / sqrt(pairs untied in x * pairs untied in y); 1 same order, -1 reversed.
    p as scipy.stats.kendalltau: exact without ties if n <= 33 or at most one pair is out of place, else normal.
    Kendall 1970.
    """
    check_scores(x, y, mask)
    tau, p = in_chunks(_kendall, x, y, mask).unbind(-1)
    return tau, p


def weighted_kendall(
    x: Tensor, y: Tensor, weights: Tensor, mask: Tensor, *, combine: str = "additive"
) -> Tensor:
    """Do x and y order the items that carry weight alike? (B,), 1 same order, -1 reversed.

    tau-b with each pair counted w_i + w_j ("additive") or w_i * w_j ("multiplicative") times; weights (B,N) >= 0.
    NaN also where the untied pairs of x or of y have no weight (to 1e-12 of all). Shieh 1998; as scipy.stats.weightedtau with given weights.
    """
    check_scores(x, y, mask, weights=weights)
    check_choice("combine", combine, ("additive", "multiplicative"))
    if (masking.fill(weights, mask) < 0).any():
        raise InputError(
            "weights must not be negative within the mask. Pass, say, the mean attention."
        )

    def tau(x: Tensor, y: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
        weight = masking.fill(weights.double(), mask)
        other = mask.double() if combine == "additive" else weight
        value = tau_of(pairs_of(dense_ranks(x, mask), dense_ranks(y, mask), weight, other))
        return unless(has_nan(mask, x, y, weights), value)

    return in_chunks(tau, x, y, weights, mask)


def spearman(x: Tensor, y: Tensor, mask: Tensor) -> Tensor:
    """Do x and y rank the items alike? (B,), correlation of average ranks: 1 same order, -1 reversed. Spearman 1904."""
    check_scores(x, y, mask)

    def rho(x: Tensor, y: Tensor, mask: Tensor) -> Tensor:
        a, b = _average_ranks(x, mask), _average_ranks(y, mask)
        a = masking.fill(a - masking.mean(a, mask)[:, None], mask)
        b = masking.fill(b - masking.mean(b, mask)[:, None], mask)
        value = (a * b).sum(-1) / (a.square().sum(-1).sqrt() * b.square().sum(-1).sqrt())
        return unless(has_nan(mask, x, y), value.clamp(-1, 1))

    return in_chunks(rho, x, y, mask)


def average_ranks(x: Tensor, mask: Tensor) -> Tensor:
    """Which place has each item, 1 for the lowest score? (B,N); equal scores share their mean place; 0 if masked."""
    check_scores(x, x, mask)

    def ranks(x: Tensor, mask: Tensor) -> Tensor:
        return unless(has_nan(mask, x)[:, None] & mask, _average_ranks(x, mask))

    return in_chunks(ranks, x, mask)


def _average_ranks(x: Tensor, mask: Tensor) -> Tensor:
    ranks = dense_ranks(x, mask)
    count = per_rank(ranks, mask.double())
    return masking.fill((lower(count) + (count + 1) / 2).gather(-1, ranks), mask)


def _kendall(x: Tensor, y: Tensor, mask: Tensor) -> Tensor:
    """(B,2): tau and p."""
    real = mask.double()
    x_ranks, y_ranks = dense_ranks(x, mask), dense_ranks(y, mask)
    pairs = pairs_of(x_ranks, y_ranks, real, real)
    tau = tau_of(pairs)
    p = _p_value(pairs, real.sum(-1), per_rank(x_ranks, real), per_rank(y_ranks, real))
    undefined = has_nan(mask, x, y) | tau.isnan()
    return unless(undefined[:, None], torch.stack([tau, p], -1))


def _p_value(pairs: Pairs, n: Tensor, x_count: Tensor, y_count: Tensor) -> Tensor:
    total = n * (n - 1) / 2
    free = (pairs.untied_x == total) & (pairs.untied_y == total)
    least = torch.minimum(pairs.discordant, total - pairs.discordant)

    table = _exact_table().to(n.device)
    exact = table[n.clamp(max=_EXACT).long(), least.clamp(0, table.shape[1] - 1).long()]
    # Beyond the table only none or one pair out of place: 1 + (n-1) of the n! orders have at most one.
    exact = torch.where(n <= _EXACT, exact, torch.exp(np.log(2) - torch.lgamma(n + 1 - least)))

    def ties(count: Tensor, factor: Tensor) -> Tensor:
        return (count * (count - 1) * factor).sum(-1)

    # Variance of concordant - discordant under ties: Kendall 1970, chapter 4.
    m = n * (n - 1)
    variance = (
        m * (2 * n + 5) - ties(x_count, 2 * x_count + 5) - ties(y_count, 2 * y_count + 5)
    ) / 18
    variance += 2 * (total - pairs.untied_x) * (total - pairs.untied_y) / m
    variance += ties(x_count, x_count - 2) * ties(y_count, y_count - 2) / (9 * m * (n - 2))
    normal = torch.erfc(pairs.difference.abs() / (2 * variance).sqrt())
    return torch.where(free & ((n <= _EXACT) | (least <= 1)), exact, normal)


@cache
def _exact_table() -> Tensor:
    """(34, 265): two-sided p of at most c discordant pairs among n items in random order, for 4c <= n(n-1)."""
    width = _EXACT * (_EXACT - 1) // 4 + 1
    chance, rows = np.eye(1, width)[0], [np.ones(width)]
    for n in range(1, _EXACT + 1):
        # Item n stands before 0, 1, … n-1 of the others, each as likely.
        chance = np.convolve(chance, np.full(n, 1 / n))[:width]
        rows.append(np.minimum(1, 2 * chance.cumsum()))
    return torch.from_numpy(np.stack(rows))
