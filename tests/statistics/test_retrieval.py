"""Average precision, hit and mass against scikit-learn and plain loops."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from attnaudit.statistics.retrieval import average_precision, hit_at_1, iou_f1, mass_on

METRICS = (average_precision, hit_at_1, mass_on)


def rankings(
    seed: int, *, levels: int = 4, examples: int = 12, items: int = 9
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores with ties, some items masked in between, some examples without evidence."""
    draw = np.random.default_rng(seed)
    scores = draw.integers(-1, levels - 1, size=(examples, items)) / 2
    relevant = draw.random((examples, items)) < 0.3
    mask = draw.random((examples, items)) < 0.8
    mask[:, 0] = True
    return scores, relevant, mask


def given_to(function, scores: np.ndarray, relevant: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return function(*(torch.tensor(each) for each in (scores, relevant, mask))).numpy()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60))
def test_average_precision_is_that_of_scikit_learn_with_ties(seed: int, levels: int) -> None:
    scores, relevant, mask = rankings(seed, levels=levels)
    found = given_to(average_precision, scores, relevant, mask)
    for score, truth, real, value in zip(scores, relevant, mask, found, strict=True):
        if truth[real].any():
            assert value == pytest.approx(
                average_precision_score(truth[real], score[real]), abs=1e-6
            )
        else:
            assert math.isnan(value)


@pytest.mark.parametrize("levels", [1, 2, 4, 1000])
def test_a_hit_is_the_share_of_evidence_among_the_items_tied_for_the_top(levels: int) -> None:
    scores, relevant, mask = rankings(levels, levels=levels, examples=40)
    found = given_to(hit_at_1, scores, relevant, mask)
    for score, truth, real, value in zip(scores, relevant, mask, found, strict=True):
        best = max(score[i] for i in range(9) if real[i])
        tied = [bool(truth[i]) for i in range(9) if real[i] and score[i] == best]
        if truth[real].any():
            assert value == pytest.approx(sum(tied) / len(tied), abs=1e-12)
        else:
            assert math.isnan(value)


def test_mass_is_the_share_of_the_absolute_score_on_the_evidence() -> None:
    scores, relevant, mask = rankings(3, examples=40)
    found = given_to(mass_on, scores, relevant, mask)
    for score, truth, real, value in zip(scores, relevant, mask, found, strict=True):
        on = sum(abs(score[i]) for i in range(9) if real[i] and truth[i])
        everything = sum(abs(score[i]) for i in range(9) if real[i])
        if truth[real].any() and everything > 0:
            assert value == pytest.approx(on / everything, abs=1e-12)
        else:
            assert math.isnan(value)
    assert np.isnan(found).any()


@pytest.mark.parametrize("function", METRICS)
def test_evidence_outside_the_mask_does_not_count(function) -> None:
    scores, relevant = np.array([[3.0, 2.0, 1.0]]), np.array([[False, False, True]])
    mask = np.array([[True, True, False]])
    assert math.isnan(given_to(function, scores, relevant, mask)[0])


@pytest.mark.parametrize("garbage", [math.nan, math.inf, 1e30])
@pytest.mark.parametrize("function", METRICS)
def test_scores_outside_the_mask_change_nothing(function, garbage: float) -> None:
    scores, relevant, mask = rankings(7)
    clean = given_to(function, scores, relevant, mask)
    dirty = given_to(function, np.where(mask, scores, garbage), relevant, mask)
    np.testing.assert_array_equal(clean, dirty)
    assert np.isfinite(clean).any()


@pytest.mark.parametrize("function", METRICS)
def test_a_nan_among_the_scores_has_no_answer(function) -> None:
    scores, relevant = np.array([[1.0, math.nan, 0.0]]), np.array([[True, False, False]])
    assert math.isnan(given_to(function, scores, relevant, np.ones((1, 3), dtype=bool))[0])


@pytest.mark.parametrize("function", METRICS)
def test_an_example_without_items_has_no_answer(function) -> None:
    nothing = np.zeros((1, 3), dtype=bool)
    assert math.isnan(given_to(function, np.zeros((1, 3)), ~nothing, nothing)[0])


def test_perfect_and_worst_rankings_have_the_known_precision() -> None:
    relevant = np.array([[True, True, False, False, False]])
    mask = np.ones((1, 5), dtype=bool)
    best = given_to(average_precision, np.array([[5.0, 4.0, 3.0, 2.0, 1.0]]), relevant, mask)
    worst = given_to(average_precision, np.array([[1.0, 2.0, 3.0, 4.0, 5.0]]), relevant, mask)
    assert best[0] == 1.0
    assert worst[0] == pytest.approx((1 / 4 + 2 / 5) / 2, abs=1e-6)


@pytest.mark.parametrize("levels", [1, 3, 1000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_average_precision_is_that_of_a_table_of_all_pairs(levels: int, dtype: type) -> None:
    scores, relevant, mask = rankings(levels, levels=levels, examples=30, items=40)
    scores = scores.astype(dtype)
    scores[:5, 3], scores[3:8, 7], scores[9, 2] = np.inf, -np.inf, np.nan
    found = given_to(average_precision, scores, relevant, mask)
    at_least = (scores[:, None] >= scores[:, :, None]) & mask[:, None]
    known = relevant & mask
    precision = (at_least & known[:, None]).sum(-1) / np.maximum(at_least.sum(-1), 1)
    total = torch.where(torch.tensor(known), torch.tensor(precision), 0.0).sum(-1)
    expected = total / torch.tensor(known.sum(-1))
    expected[(np.isnan(scores) & mask).any(-1)] = torch.nan
    np.testing.assert_array_equal(found, expected.numpy())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.3, 0.5, 0.9, 1.0]))
def test_runs_match_as_in_a_loop_over_all_pairs_of_runs(seed: int, least: float) -> None:
    draw = np.random.default_rng(seed)
    chosen, relevant, mask = (draw.random((6, 30)) < share for share in (0.6, 0.5, 0.9))
    found = given_to(partial(iou_f1, least=least), chosen, relevant, mask)
    for one, other, value in zip(chosen & mask, relevant & mask, found, strict=True):
        runs, true_runs = runs_of(one), runs_of(other)
        shares = [[len(a & b) / len(a | b) for b in true_runs] for a in runs]
        precision = np.mean([max(row, default=0) >= least for row in shares] or [0])
        columns = list(zip(*shares, strict=True))
        recall = np.mean([max(column) >= least for column in columns] or [0])
        both = precision + recall
        expected = (2 * precision * recall / both if both else 0.0) if true_runs else math.nan
        assert value == pytest.approx(expected, abs=1e-12, nan_ok=True)


def runs_of(chosen: np.ndarray) -> list[set[int]]:
    """The items of each run of True."""
    runs: list[set[int]] = []
    for item in np.flatnonzero(chosen):
        if runs and item - 1 in runs[-1]:
            runs[-1].add(item)
        else:
            runs.append({item})
    return runs


def test_average_precision_is_exact_in_float64() -> None:
    """Stored in float64, so thirds should be thirds to the last digits."""
    relevant, mask = np.array([[False, False, True]]), np.ones((1, 3), dtype=bool)
    value = given_to(average_precision, np.array([[3.0, 2.0, 1.0]]), relevant, mask)[0]
    assert value == pytest.approx(1 / 3, abs=1e-15)
