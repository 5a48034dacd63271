"""Every interval is ordered, holds its estimate and stays within the range of its statistic, or is NaN at both ends."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnaudit.audits.corpus.information import adjusted, plug_in
from attnaudit.audits.corpus.mutual_information import _informed, _interval, _tau
from attnaudit.audits.declaration import Declaration
from attnaudit.results.summary import summarise
from attnaudit.statistics import bootstrap
from attnaudit.statistics.inference import length_matched, over_seeds
from attnaudit.statistics.interval_ends import percentile_ends
from attnaudit.training.comparisons import compare_performance
from attnaudit.training.comparisons.correlations import _correlate
from attnaudit.training.interventions.context import mean_with_interval

# Equal values, holes, extremes and skewed values are likely, because that is where intervals go wrong.
SHARE = st.one_of(st.just(math.nan), st.sampled_from([0.0, 0.1, 1 / 3, 0.7, 1.0]), st.floats(0, 1))


def sound(estimate: float, low: float, high: float, *, least: float, most: float) -> bool:
    if math.isnan(low) and math.isnan(high):
        return True
    return least <= low <= estimate <= high <= most


def matrix(data: st.DataObject, rows: int, columns: int) -> np.ndarray:
    size = rows * columns
    return np.array(data.draw(st.lists(SHARE, min_size=size, max_size=size))).reshape(rows, columns)


@given(st.data(), st.integers(1, 12), st.integers(1, 3), st.sampled_from([1, 3, 200]))
@settings(max_examples=60, deadline=None)
def test_of_a_mean_over_examples(
    data: st.DataObject, count: int, columns: int, resamples: int
) -> None:
    values = torch.from_numpy(matrix(data, count, columns))
    found = bootstrap(values, resamples=resamples)
    for estimate, low, high in zip(*(each.tolist() for each in found[:3]), strict=True):
        assert sound(estimate, low, high, least=0, most=1)


@given(st.data(), st.integers(1, 12))
@settings(max_examples=30, deadline=None)
def test_of_a_line_of_the_summary_and_of_an_intervention(data: st.DataObject, count: int) -> None:
    values = matrix(data, count, 2)
    keys = [("a", "", "x", 0), ("a", "", "x", 1)]
    predicted = np.array(data.draw(st.lists(st.integers(0, 1), min_size=count, max_size=count)))
    made = summarise(
        torch.from_numpy(values), keys, predicted, ["no", "yes"], {"a": Declaration("?", {})}
    )
    for line in made.itertuples():
        assert sound(line.mean, line.low, line.high, least=0, most=1)
    line = mean_with_interval(pd.Series(values[:, 0]), "x", 0)
    assert sound(line["x"], line["x_low"], line["x_high"], least=0, most=1)


@given(st.data(), st.integers(1, 4), st.integers(1, 8), st.sampled_from([1, 3, 200]))
@settings(max_examples=60, deadline=None)
def test_over_seeds(data: st.DataObject, seeds: int, texts: int, resamples: int) -> None:
    found = over_seeds(matrix(data, seeds, texts), resamples=resamples)
    assert sound(*found, least=0, most=1)


@given(st.data(), st.integers(1, 8), st.integers(1, 8), st.sampled_from([1, 3, 200]))
@settings(max_examples=60, deadline=None)
def test_matched_by_length(data: st.DataObject, count: int, other: int, resamples: int) -> None:
    sizes = [
        np.array(data.draw(st.lists(st.integers(1, 5), min_size=each, max_size=each)))
        for each in (count, other)
    ]
    first, second = matrix(data, count, 2), matrix(data, other, 2)
    for found in length_matched(first, sizes[0], second, sizes[1], bins=3, resamples=resamples):
        assert sound(*found, least=-1, most=1)


@given(st.data(), st.integers(1, 12), st.sampled_from([2, 3]), st.sampled_from([1, 3, 200]))
@settings(max_examples=60, deadline=None)
def test_of_a_difference_in_performance(
    data: st.DataObject, count: int, classes: int, resamples: int
) -> None:
    labels = torch.tensor(
        data.draw(st.lists(st.integers(0, classes - 1), min_size=count, max_size=count))
    )
    probs = [
        torch.tensor(
            data.draw(st.lists(st.integers(0, classes - 1), min_size=count, max_size=count))
        )
        for _ in range(2)
    ]
    pair = [torch.nn.functional.one_hot(each, classes).float() for each in probs]
    for line in compare_performance(labels, *pair, resamples=resamples).itertuples():
        assert sound(line.difference, line.low, line.high, least=-1, most=1)
        assert count > 1 or math.isnan(line.low)


@given(st.data(), st.integers(3, 9))
@settings(max_examples=30, deadline=None)
def test_of_a_correlation_over_models(data: st.DataObject, count: int) -> None:
    numbers = data.draw(
        st.lists(st.floats(0, 1), min_size=2 * count, max_size=2 * count, unique=True)
    )
    x, y = np.array(numbers).reshape(2, count)
    tau, low, high, _ = _correlate(x, y, "?", 0)
    assert not math.isnan(low)
    assert sound(tau, low, high, least=-1, most=1)


@pytest.mark.parametrize("information", [plug_in, adjusted])
@given(st.integers(0, 2**31), st.integers(2, 6), st.sampled_from([0.02, 0.5, 0.95]))
@settings(max_examples=12, deadline=None)
def test_of_information_by_rank(information: object, seed: int, ranks: int, noise: float) -> None:
    draw = np.random.default_rng(seed)
    outputs = draw.integers(0, 3, 24)
    labels = np.where(draw.random((ranks, 24)) < noise, draw.integers(0, 4, (ranks, 24)), outputs)
    weights = np.sort(draw.random((24, ranks)))[:, ::-1]
    whole = _tau(_informed(labels, outputs, information), weights.mean(0))  # type: ignore[arg-type]
    low, high = _interval(labels, outputs, weights, 0, information)  # type: ignore[arg-type]
    assert sound(whole, low, high, least=-1, most=1)


def test_of_information_where_few_halves_lie_far_below_the_rest() -> None:
    """Nearly every half ranks as the whole and a few do not: the mean of the halves lies below their own 2.5th percentile."""
    draw = np.random.default_rng(33)
    outputs = draw.integers(0, 3, 60)
    strength = np.array([0.95, 0.75, 0.35, 0.02])
    labels = np.where(
        draw.random((4, 60)) < strength[:, None], outputs, draw.integers(0, 3, (4, 60))
    )
    weights = np.tile([0.9, 0.08, 0.015, 0.005], (60, 1)) * draw.gamma(9, 1 / 9, (60, 4))
    whole = _tau(_informed(labels, outputs, plug_in), weights.mean(0))
    low, high = _interval(labels, outputs, weights, 0, plug_in)
    assert whole == 1
    assert low <= 1 == high


def test_a_tau_without_a_value_has_no_interval() -> None:
    labels, outputs = np.zeros((3, 20), dtype=int), np.zeros(20, dtype=int)
    weights = np.sort(np.random.default_rng(0).random((20, 3)))[:, ::-1]
    assert np.isnan(_interval(labels, outputs, weights, 0, plug_in)).all()


def test_percentiles_on_one_side_of_the_estimate_are_widened_to_it() -> None:
    assert percentile_ends(0.5, np.array([0.6, 0.7, math.nan])) == pytest.approx((0.5, 0.6975))
    assert percentile_ends(0.8, np.array([0.6, 0.7])) == pytest.approx((0.6025, 0.8))
    assert np.isnan(percentile_ends(math.nan, np.array([1.0]))).all()
    assert np.isnan(percentile_ends(1.0, np.array([math.nan]))).all()
