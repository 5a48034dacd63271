"""The intervals of summaries, interventions, comparisons and corpus audits are sound too."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnaudit.audits.corpus.information import adjusted, plug_in
from attnaudit.audits.corpus.rank_correlation import information_by_rank, tau_interval, weighted_tau
from attnaudit.audits.declaration import Declaration, Metric
from attnaudit.results.summary import summarise
from attnaudit.training.comparisons import compare_performance
from attnaudit.training.comparisons.correlations import kendall_with_interval
from attnaudit.training.interventions.context import mean_with_interval
from interval_cases import is_sound, matrix


@given(st.data(), st.integers(1, 24))
@settings(max_examples=30, deadline=None)
def test_the_interval_of_a_line_of_the_summary_and_of_an_intervention_is_sound(
    data: st.DataObject, count: int
) -> None:
    values = matrix(data, count, 2)
    keys = [("a", "", "x", 0), ("a", "", "x", 1)]
    predicted = np.array(data.draw(st.lists(st.integers(0, 1), min_size=count, max_size=count)))
    made = summarise(
        torch.from_numpy(values),
        keys,
        predicted,
        ["no", "yes"],
        {"a": Declaration("?", {"x": Metric("", 0.0, 1.0)})},
    )
    for line in made.itertuples():
        assert is_sound(line.mean, line.low, line.high, least=0, most=1)
    line = mean_with_interval(pd.Series(values[:, 0]), "x", 0, (0.0, 1.0))
    assert is_sound(line["x"], line["x_low"], line["x_high"], least=0, most=1)


@given(st.data(), st.integers(1, 24), st.sampled_from([2, 3]))
@settings(max_examples=60, deadline=None)
def test_the_interval_of_a_difference_in_performance_is_sound(
    data: st.DataObject, count: int, classes: int
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
    for line in compare_performance(labels, *pair).itertuples():
        assert is_sound(line.difference, line.low, line.high, least=-1, most=1)
        assert count >= 10 or math.isnan(line.low)


@given(st.data(), st.integers(3, 9))
@settings(max_examples=30, deadline=None)
def test_the_interval_of_a_correlation_over_models_is_sound(
    data: st.DataObject, count: int
) -> None:
    numbers = data.draw(
        st.lists(st.floats(0, 1), min_size=2 * count, max_size=2 * count, unique=True)
    )
    x, y = np.array(numbers).reshape(2, count)
    tau, low, high, _ = kendall_with_interval(x, y, "?", 0)
    assert not math.isnan(low)
    assert is_sound(tau, low, high, least=-1, most=1)


@pytest.mark.parametrize("information", [plug_in, adjusted])
@given(st.integers(0, 2**31), st.integers(2, 6), st.sampled_from([0.02, 0.5, 0.95]))
@settings(max_examples=12, deadline=None)
def test_the_interval_of_information_by_rank_is_sound(
    information: object, seed: int, ranks: int, noise: float
) -> None:
    draw = np.random.default_rng(seed)
    outputs = draw.integers(0, 3, 24)
    labels = np.where(draw.random((ranks, 24)) < noise, draw.integers(0, 4, (ranks, 24)), outputs)
    weights = np.sort(draw.random((24, ranks)))[:, ::-1]
    whole = weighted_tau(information_by_rank(labels, outputs, information), weights.mean(0))  # type: ignore[arg-type]
    low, high = tau_interval(labels, outputs, weights, 0, information)  # type: ignore[arg-type]
    assert is_sound(whole, low, high, least=-1, most=1)


def test_of_information_where_few_halves_lie_far_below_the_rest() -> None:
    """A few halves rank differently: the mean of the halves is below their 2.5th percentile."""
    draw = np.random.default_rng(33)
    outputs = draw.integers(0, 3, 60)
    strength = np.array([0.95, 0.75, 0.35, 0.02])
    labels = np.where(
        draw.random((4, 60)) < strength[:, None], outputs, draw.integers(0, 3, (4, 60))
    )
    weights = np.tile([0.9, 0.08, 0.015, 0.005], (60, 1)) * draw.gamma(9, 1 / 9, (60, 4))
    whole = weighted_tau(information_by_rank(labels, outputs, plug_in), weights.mean(0))
    low, high = tau_interval(labels, outputs, weights, 0, plug_in)
    assert whole == 1
    assert low <= 1 == high


def test_a_tau_without_a_value_has_no_interval() -> None:
    labels, outputs = np.zeros((3, 20), dtype=int), np.zeros(20, dtype=int)
    weights = np.sort(np.random.default_rng(0).random((20, 3)))[:, ::-1]
    assert np.isnan(tau_interval(labels, outputs, weights, 0, plug_in)).all()
