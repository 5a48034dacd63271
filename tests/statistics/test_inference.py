"""Multiple tests, several seeds, lengths and sample sizes: against SciPy and known answers."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, norm
from scipy.stats import t as student

from attnaudit.core.errors import InputError
from attnaudit.statistics.inference import (
    benjamini_hochberg,
    examples_needed,
    length_matched,
    over_seeds,
)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.data())
@settings(max_examples=100, deadline=None)
def test_adjusted_p_values_are_scipys_and_nan_is_no_test(
    p: list[float], data: st.DataObject
) -> None:
    holes = data.draw(st.lists(st.booleans(), min_size=len(p), max_size=len(p)))
    given_p = torch.tensor(
        [math.nan if hole else each for each, hole in zip(p, holes, strict=True)],
        dtype=torch.float64,
    )
    found = benjamini_hochberg(given_p)
    known = ~given_p.isnan()
    assert torch.equal(found.isnan(), ~known)
    if known.any():
        np.testing.assert_allclose(
            found[known], false_discovery_control(given_p[known].numpy()), atol=1e-12
        )


def test_of_true_nulls_few_are_called_significant() -> None:
    draw = np.random.default_rng(0)
    p = torch.from_numpy(draw.uniform(size=4000))
    assert (p <= 0.05).double().mean() == pytest.approx(0.05, abs=0.01)
    assert (benjamini_hochberg(p) <= 0.05).double().mean() < 0.005


def test_the_interval_over_seeds_covers_what_another_seed_would_give() -> None:
    """Seeds differ by sd 1, examples hardly: intervals over examples alone would rarely cover 0."""
    draw = np.random.default_rng(1)
    covered = 0
    for _ in range(60):
        values = np.stack([draw.normal() + 0.01 * draw.normal(size=50) for _ in range(8)])
        found = over_seeds(values, resamples=400)
        covered += found.low <= 0 <= found.high
    assert covered >= 53  # 95 % in theory


def test_the_same_model_again_is_no_new_evidence() -> None:
    """All seeds see the same texts: repeating one run leaves the interval of that run."""
    one = np.random.default_rng(5).normal(size=400)
    alone = 2 * norm.ppf(0.975) * one.std() / math.sqrt(400)
    for count in (2, 5, 10):
        found = over_seeds(np.tile(one, (count, 1)), resamples=4000)
        assert found.high - found.low == pytest.approx(alone, rel=0.06)


def test_an_interval_over_seeds_and_texts_covers_the_mean_over_all_seeds_and_texts() -> None:
    """Texts that are hard for every seed, and a little noise between seeds.

    If texts were drawn again for each seed, the interval would cover half of the time.
    """
    draw = np.random.default_rng(6)
    covered = 0
    for _ in range(100):
        values = (
            draw.normal(size=200)
            + 0.02 * draw.normal(size=(5, 1))
            + 0.1 * draw.normal(size=(5, 200))
        )
        found = over_seeds(values, resamples=400)
        covered += found.low <= 0 <= found.high
    assert covered >= 88


def test_the_noise_of_seeds_and_texts_is_added_and_what_both_contain_is_counted_once() -> None:
    draw = np.random.default_rng(7)
    values = draw.normal(size=400) + draw.normal(0, 0.1, (6, 1)) + draw.normal(size=(6, 400))
    found = over_seeds(values)
    of_seed, of_text = values.mean(1), values.mean(0)
    residual = values - of_seed[:, None] - of_text + values.mean()
    noise = (residual**2).sum() / (5 * 399) / values.size
    squared = student.ppf(0.975, 5) ** 2 * (of_seed.var(ddof=1) / 6 - noise / 2)
    squared += student.ppf(0.975, 399) ** 2 * (of_text.var(ddof=1) / 400 - noise / 2)
    assert (found.high - found.low) / 2 == pytest.approx(math.sqrt(squared), rel=0.03)


def test_over_seeds_texts_decide_whether_there_is_an_interval() -> None:
    draw = np.random.default_rng(8)
    assert math.isnan(over_seeds(draw.random((3, 9))).low)
    assert not math.isnan(over_seeds(draw.random((3, 10))).low)
    ones = over_seeds(np.ones((3, 40)), limits=(0.0, 1.0))
    assert 0.9 < ones.low < 1 == ones.high


def test_seeds_with_texts_of_their_own_are_the_two_variances_added() -> None:
    draw = np.random.default_rng(2)
    values = np.full((20, 4000), math.nan)
    for seed, seed_mean in enumerate(draw.normal(size=20)):
        values[seed, 200 * seed : 200 * (seed + 1)] = seed_mean + draw.normal(size=200)
    found = over_seeds(values, resamples=4000)
    means, spreads = np.nanmean(values, 1), np.nanvar(values, 1)
    between, within = means.var(ddof=1) / 20, spreads.mean() / 4000
    reach = math.sqrt(student.ppf(0.975, 19) ** 2 * between + norm.ppf(0.975) ** 2 * within)
    assert (found.high - found.low) / 2 == pytest.approx(reach, rel=0.01)
    assert found.estimate == pytest.approx(means.mean())


def test_one_seed_has_a_mean_and_no_interval_and_a_seed_without_values_has_nothing() -> None:
    found = over_seeds(np.array([[1.0, math.nan, 3.0]]))
    assert found.estimate == 2
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert math.isnan(over_seeds(np.array([[1.0], [math.nan]])).estimate)


def test_a_difference_that_is_length_alone_vanishes_when_lengths_are_matched() -> None:
    draw = np.random.default_rng(3)
    short, long = draw.integers(5, 40, 800), draw.integers(20, 80, 800)
    value = lambda length: length / 100 + 0.02 * draw.normal(size=len(length))  # noqa: E731
    first, second = value(short), value(long)
    assert first.mean() - second.mean() < -0.2
    both, other = np.stack([first, first + 0.1], 1), np.stack([second, second], 1)
    found, shifted = length_matched(both, short, other, long, bins=40)
    assert abs(found.estimate) < 0.02
    assert shifted.low < 0.1 + found.estimate < shifted.high
    assert shifted.low > 0


def test_matched_by_hand() -> None:
    """Two bins: [1, 3) and [3, 5]; the weights are the texts of both together, 3 and 4."""
    first, first_length = np.array([1.0, 3.0, 10.0]), np.array([1, 1, 5])
    second, second_length = np.array([0.0, 4.0, 6.0, 8.0]), np.array([2, 3, 4, 5])
    (found,) = length_matched(first[:, None], first_length, second[:, None], second_length, bins=2)
    assert found.estimate == pytest.approx((3 * (2 - 0) + 4 * (10 - 6)) / 7)


def test_no_length_in_common_is_no_answer() -> None:
    (found,) = length_matched(
        np.ones((5, 1)), np.full(5, 3), np.zeros((5, 1)), np.full(5, 90), bins=2
    )
    assert math.isnan(found.estimate)
    (nothing,) = length_matched(
        np.full((3, 1), math.nan), np.arange(3), np.ones((3, 1)), np.arange(3)
    )
    assert math.isnan(nothing.estimate)


def test_so_many_examples_do_give_an_interval_of_that_width() -> None:
    needed = examples_needed(2.0, 0.5)
    assert needed == math.ceil((2 * norm.ppf(0.975) * 2 / 0.5) ** 2)
    assert 2 * norm.ppf(0.975) * 2 / math.sqrt(needed) <= 0.5
    assert 2 * norm.ppf(0.975) * 2 / math.sqrt(needed - 1) > 0.5
    assert examples_needed(0.0, 0.5) == 1
    assert examples_needed(math.nan, 0.5) is None
    with pytest.raises(InputError, match="must be positive, got 0"):
        examples_needed(1.0, 0)


def test_few_different_lengths_are_matched_one_by_one() -> None:
    a, b = np.repeat([5, 6], [80, 21]), np.repeat([5, 6], [20, 80])
    (found,) = length_matched(a[:, None].astype(float), a, b[:, None].astype(float), b)
    assert found.estimate == pytest.approx(0)
