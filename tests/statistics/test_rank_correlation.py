"""Rank correlations against SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import stats

from attnaudit import statistics as ours
from score_cases import LEVELS, batch, rows_of, same, scipy_kendall, whole


@pytest.mark.parametrize("levels", LEVELS)
def test_kendall_equals_scipy(levels):
    lengths = [*range(1, 41), 60, 150, 257, 400]
    x, y, mask = batch(levels, lengths, levels)
    tau, p = ours.kendall(x, y, mask)
    expected = np.array([scipy_kendall(a, b) for a, b in rows_of(x, y, mask)])
    same(tau, expected[:, 0])
    same(p, expected[:, 1])
    assert tau.dtype == p.dtype == torch.float64
    assert (tau.isnan() == p.isnan()).all()


@pytest.mark.parametrize("n", [2, 3, 5, 32, 33, 34, 35, 60, 171, 200])
def test_kendall_of_almost_sorted_scores_has_the_exact_p_of_scipy(n):
    """None, one or two pairs out of place, where SciPy switches between exact and normal."""
    up = np.arange(float(n))
    orders = [up]
    for swaps in (1, 2):
        order = up.copy()
        for at in range(0, min(2 * swaps, n - 1), 2):
            order[[at, at + 1]] = order[[at + 1, at]]
        orders.append(order)
    orders += [order[::-1].copy() for order in orders]
    y, mask = whole(*orders)
    tau, p = ours.kendall(torch.from_numpy(up).expand_as(y), y, mask)
    expected = np.array([scipy_kendall(up, order) for order in orders])
    same(tau, expected[:, 0])
    # Relative: these p-values are so small that any absolute tolerance would let everything pass.
    np.testing.assert_allclose(p.numpy(), expected[:, 1], rtol=1e-8, atol=1e-300)


def test_kendall_p_of_four_in_order():
    x, mask = whole([1, 2, 3, 4], [1, 2, 3, 4])
    y, _ = whole([1, 2, 3, 4], [4, 3, 2, 1])
    tau, p = ours.kendall(x, y, mask)
    same(tau, [1, -1])
    same(p, [2 / 24, 2 / 24], 1e-15)  # two of the 4! orders are as extreme


def test_kendall_of_long_and_of_many_examples():
    x, y, mask = batch(0, [2000, 1999, 1024, 1025, 20_000], 40)
    same(
        torch.stack(ours.kendall(x, y, mask), -1),
        [scipy_kendall(*row) for row in rows_of(x, y, mask)],
    )
    many = torch.rand(25_000, 12)
    tau, p = ours.kendall(many, many, torch.ones_like(many, dtype=torch.bool))
    assert tau.shape == p.shape == (25_000,)
    same(tau, torch.ones(25_000))


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("additive", [True, False])
def test_weighted_kendall_equals_scipy(levels, additive):
    lengths = [*range(2, 41), 130]
    x, y, mask = batch(30 + levels, lengths, levels)
    weights = (
        torch.rand(mask.shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64) ** 3
    )
    weights = torch.where(mask, weights, torch.nan)
    combine = "additive" if additive else "multiplicative"
    expected = [
        math.nan
        if len({*a}) == 1 or len({*b}) == 1
        else stats.weightedtau(
            a, b, rank=np.arange(len(a)), weigher=lambda r, w=w: w[r], additive=additive
        )[0]
        for a, b, w in rows_of(x, y, weights, mask)
    ]
    got = ours.weighted_kendall(x, y, weights, mask, combine=combine)
    same(got, expected)
    other = "multiplicative" if additive else "additive"
    assert (
        got - ours.weighted_kendall(x, y, weights, mask, combine=other)
    ).abs().nanmedian() > 1e-4
    ones = torch.ones_like(x)
    same(ours.weighted_kendall(x, y, ones, mask, combine=combine), ours.kendall(x, y, mask)[0])


def test_weighted_kendall_without_weight_on_an_untied_pair_is_nan():
    x, mask = whole([1, 1, 2, 3])
    y, _ = whole([4, 3, 2, 1])
    weights, _ = whole([0.7, 0.3, 0, 0])
    same(ours.weighted_kendall(x, y, weights, mask, combine="multiplicative"), [math.nan])
    same(ours.weighted_kendall(y, y, weights, mask, combine="multiplicative"), [1])
    # Next to none is none: the rest would be rounding, 0 or 1 by chance.
    for least in (1e-30, 1e-17, 1e-14):
        weights, _ = whole([0.7, 0.3, least, least])
        same(ours.weighted_kendall(x, y, weights, mask, combine="multiplicative"), [math.nan])
        same(ours.weighted_kendall(y, y, weights, mask, combine="multiplicative"), [1])
    # But small weights count where all pairs are small, in whichever place the large one stands.
    for weights in ([1e-30, 1, 0, 0], [1, 1e-30, 0, 0], [0, 1e-30, 0, 1]):
        weights, _ = whole(weights)
        same(ours.weighted_kendall(y, y, weights, mask, combine="multiplicative"), [1])


def test_weights_outside_the_mask_may_be_negative():
    x, mask = whole([1, 2, 3, 9])
    mask[0, 3] = False
    weights, _ = whole([1, 1, 1, -5])
    same(ours.weighted_kendall(x, x, weights, mask), [1])


@pytest.mark.parametrize("levels", LEVELS)
def test_spearman_and_average_ranks_equal_scipy(levels):
    x, y, mask = batch(40 + levels, [*range(1, 41), 400], levels)
    expected = [
        math.nan if len({*a}) == 1 or len({*b}) == 1 else stats.spearmanr(a, b)[0]
        for a, b in rows_of(x, y, mask)
    ]
    same(ours.spearman(x, y, mask), expected)
    ranks = ours.average_ranks(x, mask)
    assert (ranks[~mask] == 0).all()
    for (got, scores), real in zip(rows_of(ranks, x, mask), mask, strict=True):
        assert real.sum() == len(got)
        np.testing.assert_array_equal(got, stats.rankdata(scores))


def test_infinite_scores_are_scores():
    x, mask = whole([-torch.inf, 1, torch.inf, torch.inf, 0])
    y, _ = whole([0, 2, 3, 4, 1])
    wide, real = torch.cat([x, x * 0 + torch.inf], 1), torch.cat([mask, ~mask], 1)
    expected = stats.kendalltau([0, 2, 3, 3, 1], [0, 2, 3, 4, 1])[0]
    same(ours.kendall(wide, torch.cat([y, y], 1), real)[0], [expected])
    same(ours.overlap_at_k(wide, torch.cat([y, y], 1), 2, real), [1])


def test_ranks_of_nan_are_nan():
    x, mask = whole([1, torch.nan, 2], [5, 4, 4])
    mask[0, 2] = False
    same(ours.average_ranks(x, mask), [[math.nan, math.nan, 0], [3, 1.5, 1.5]])
