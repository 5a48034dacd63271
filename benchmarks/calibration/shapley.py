"""Exact Shapley values and best sets of a game given by the worth of all sets of its N players.

Sets are numbered: bit i of the number of a set says whether player i is in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np


def subsets(players: int) -> np.ndarray:
    """Return the members of every set (2^N,N) bool.

    Examples
    --------
    >>> subsets(2).tolist()
    [[False, False], [True, False], [False, True], [True, True]]
    """
    return (np.arange(2**players)[:, None] >> np.arange(players)) & 1 > 0


def shapley_values(worth: np.ndarray) -> np.ndarray:
    """Return the Shapley value of every player (N,) from the worth of every set (2^N,).

    A player's value is its mean contribution over all orders in which the players may arrive.

    Examples
    --------
    >>> shapley_values(np.array([0.0, 1.0, 1.0, 1.0])).tolist()
    [0.5, 0.5]
    """
    players = len(worth).bit_length() - 1
    members = subsets(players)
    size = members.sum(-1)
    orders = np.array(
        [
            math.factorial(s) * math.factorial(players - s - 1) / math.factorial(players)
            for s in range(players)
        ]
    )
    values = np.empty(players)
    for player in range(players):
        without = np.flatnonzero(~members[:, player])
        gain = worth[without | (1 << player)] - worth[without]
        values[player] = orders[size[without]] @ gain
    return values


def sampled_shapley_values(
    worth_of: Callable[[np.ndarray], np.ndarray], players: int, orders: int, seed: int
) -> np.ndarray:
    """Estimate the Shapley values (N,) from drawn orders of arrival, each with its reverse.

    Parameters
    ----------
    worth_of : maps sets (M,N) bool to their worth (M,).
    players : N.
    orders : number of orders drawn; twice as many are used.
    seed : of the draws.

    Examples
    --------
    >>> sampled_shapley_values(lambda sets: sets @ np.array([1.0, 2.0]), 2, 3, seed=0).tolist()
    [1.0, 2.0]
    """
    draw = np.random.default_rng(seed)
    drawn = np.stack([draw.permutation(players) for _ in range(orders)])
    arrivals = np.concatenate([drawn, drawn[:, ::-1]])  # (2·orders,N)
    rank = np.argsort(arrivals, axis=-1)
    present = rank[:, None] < np.arange(players + 1)[:, None]  # (2·orders,N+1,N)
    worth = worth_of(present.reshape(-1, players)).reshape(len(arrivals), players + 1)
    gains = np.diff(worth, axis=-1)  # by order of arrival
    return np.take_along_axis(gains, rank, -1).mean(0)


def best_sets(worth: np.ndarray, shown: np.ndarray, count: int) -> tuple[float, float]:
    """Place the shown players between all sets of their number (0) and the best one (1).

    Parameters
    ----------
    worth : (2^N,) the worth of every set.
    shown : (N,) how much of each player is shown, in [0, 1], with sum `count`; the `count` largest
        are taken.
    count : number of players shown.

    Returns
    -------
    removed, kept : by the worth lost without the set, and by the worth of the set alone. NaN if all
        sets are equal.

    Examples
    --------
    >>> best_sets(np.array([0.0, 2.0, 0.0, 2.0]), np.array([1.0, 0.0]), 1)
    (1.0, 1.0)
    """
    everyone = len(worth) - 1
    sets = np.flatnonzero(subsets(len(shown)).sum(-1) == count)
    chosen = int((1 << np.argsort(-shown, kind="stable")[:count]).sum())
    lost = worth[everyone] - worth[everyone ^ sets]
    alone = worth[sets]
    return (
        _place(worth[everyone] - worth[everyone ^ chosen], lost),
        _place(worth[chosen], alone),
    )


def _place(value: float, all_values: np.ndarray) -> float:
    mean, best = all_values.mean(), all_values.max()
    return float((value - mean) / (best - mean)) if best - mean > 1e-9 else math.nan
