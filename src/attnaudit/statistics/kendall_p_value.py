"""The two-sided p-value of Kendall's tau, as `scipy.stats.kendalltau` has it."""

from __future__ import annotations

from functools import cache

import numpy as np
import torch

from attnaudit.statistics.pair_counts import PairCounts

_EXACT = 33  # SciPy's largest n with an exact p-value for every tau


def p_value(pairs: PairCounts, n: np.ndarray) -> np.ndarray:
    """p (B,) of n (B,) items; anything where tau is undefined."""
    least = np.minimum(pairs.discordant, pairs.every - pairs.discordant)
    free = (pairs.untied_x == pairs.every) & (pairs.untied_y == pairs.every)
    exact = free & ((n <= _EXACT) | (least <= 1))
    return np.where(exact, _exact(n, least), _normal(pairs, n))


def _exact(n: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Of `least` discordant, or concordant, pairs without ties."""
    table = _exact_table()
    short = table[np.minimum(n, _EXACT).astype(int), least.clip(0, table.shape[1] - 1).astype(int)]
    # Beyond the table only for at most one discordant pair: so have 1 + (n-1) of the n! orders.
    orders = torch.lgamma(torch.from_numpy(n + 1 - least))
    return np.where(n <= _EXACT, short, torch.exp(np.log(2) - orders).numpy())


def _normal(pairs: PairCounts, n: np.ndarray) -> np.ndarray:
    """With the variance of concordant - discordant under ties: Kendall 1970, chapter 4."""
    m = n * (n - 1)
    ties = (pairs.x_ties, pairs.y_ties)
    spread = [of_score.total(lambda count: 2 * count + 5) for of_score in ties]
    triples = [of_score.total(lambda count: count - 2) for of_score in ties]
    variance = (m * (2 * n + 5) - spread[0] - spread[1]) / 18
    variance += 2 * (pairs.every - pairs.untied_x) * (pairs.every - pairs.untied_y) / m
    variance += triples[0] * triples[1] / (9 * m * (n - 2))
    return torch.erfc(torch.from_numpy(abs(pairs.difference) / np.sqrt(2 * variance))).numpy()


@cache
def _exact_table() -> np.ndarray:
    """(34, 265): two-sided p of at most c discordant pairs among n items, for 4c <= n(n-1)."""
    width = _EXACT * (_EXACT - 1) // 4 + 1
    chance, rows = np.eye(1, width)[0], [np.ones(width)]
    for n in range(1, _EXACT + 1):
        # Item n comes before 0, 1, … n-1 of the others, each with the same probability.
        chance = np.convolve(chance, np.full(n, 1 / n))[:width]
        rows.append(np.minimum(1, 2 * chance.cumsum()))
    return np.stack(rows)
