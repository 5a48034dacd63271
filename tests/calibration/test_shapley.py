"""Shapley values and best sets, against the definitions written out."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from benchmarks.calibration.shapley import (
    best_sets,
    sampled_shapley_values,
    shapley_values,
    subsets,
)


def by_orders(worth: np.ndarray, players: int) -> list[float]:
    """The mean contribution over all orders of arrival."""
    total = [0.0] * players
    for order in itertools.permutations(range(players)):
        present = 0
        for player in order:
            total[player] += worth[present | 1 << player] - worth[present]
            present |= 1 << player
    return [value / math.factorial(players) for value in total]


@pytest.mark.parametrize("seed", range(3))
def test_shapley_values_are_the_mean_over_all_orders(seed: int) -> None:
    worth = np.random.default_rng(seed).normal(size=2**4)
    assert shapley_values(worth) == pytest.approx(by_orders(worth, 4))


@pytest.mark.parametrize("players", [1, 5, 12])
def test_shapley_values_sum_to_the_worth_of_all_players(players: int) -> None:
    worth = np.random.default_rng(players).normal(size=2**players)
    assert shapley_values(worth).sum() == pytest.approx(worth[-1] - worth[0])


def test_players_without_influence_get_nothing() -> None:
    worth = subsets(5)[:, 2] * 3.0
    assert shapley_values(worth) == pytest.approx([0, 0, 3, 0, 0])


def test_drawn_orders_estimate_the_shapley_values() -> None:
    worth = np.random.default_rng(1).normal(size=2**6)

    def worth_of(sets: np.ndarray) -> np.ndarray:
        return worth[sets @ (1 << np.arange(6))]

    found = sampled_shapley_values(worth_of, 6, orders=4000, seed=0)
    assert found == pytest.approx(shapley_values(worth), abs=0.05)
    assert found.sum() == pytest.approx(worth[-1] - worth[0])


@pytest.mark.parametrize("shown", [(0, 1), (1, 3), (2, 4)])
def test_best_sets_are_those_of_a_search_by_hand(shown: tuple[int, int]) -> None:
    worth = np.random.default_rng(7).normal(size=2**5)
    weights = np.array([float(player in shown) for player in range(5)])
    number = {pair: sum(1 << player for player in pair) for pair in _pairs()}
    lost = {pair: worth[31] - worth[31 - number[pair]] for pair in _pairs()}
    alone = {pair: worth[number[pair]] for pair in _pairs()}
    removed, kept = best_sets(worth, weights, 2)
    for found, by_hand in ((removed, lost), (kept, alone)):
        mean = sum(by_hand.values()) / len(by_hand)
        assert found == pytest.approx((by_hand[shown] - mean) / (max(by_hand.values()) - mean))


def test_the_place_among_equal_sets_is_undefined() -> None:
    removed, kept = best_sets(np.zeros(8), np.array([1.0, 0.0, 0.0]), 1)
    assert math.isnan(removed)
    assert math.isnan(kept)


def _pairs() -> list[tuple[int, int]]:
    return list(itertools.combinations(range(5), 2))
