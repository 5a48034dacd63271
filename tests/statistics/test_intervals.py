"""Every interval is ordered, contains its estimate and stays in range, or is NaN."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnaudit.statistics import bootstrap
from attnaudit.statistics.inference import length_matched, over_seeds
from attnaudit.statistics.interval_ends import percentile_ends
from interval_cases import is_sound, matrix


@given(st.data(), st.integers(1, 24), st.integers(1, 3), st.sampled_from([1, 3, 200]))
@settings(max_examples=60, deadline=None)
def test_the_interval_of_a_mean_over_examples_is_sound(
    data: st.DataObject, count: int, columns: int, resamples: int
) -> None:
    values = torch.from_numpy(matrix(data, count, columns))
    found = bootstrap(values, limits=(0.0, 1.0), resamples=resamples)
    for estimate, low, high in zip(*(each.tolist() for each in found[:3]), strict=True):
        assert is_sound(estimate, low, high, least=0, most=1)


@given(st.data(), st.integers(1, 4), st.integers(8, 16), st.sampled_from([1, 3, 200]))
@settings(max_examples=60, deadline=None)
def test_the_interval_over_seeds_is_sound(
    data: st.DataObject, seeds: int, texts: int, resamples: int
) -> None:
    found = over_seeds(matrix(data, seeds, texts), limits=(0.0, 1.0), resamples=resamples)
    assert is_sound(*found, least=0, most=1)


@given(st.data(), st.integers(1, 8), st.integers(1, 8), st.sampled_from([1, 3, 200]))
@settings(max_examples=60, deadline=None)
def test_the_interval_of_a_length_matched_difference_is_sound(
    data: st.DataObject, count: int, other: int, resamples: int
) -> None:
    sizes = [
        np.array(data.draw(st.lists(st.integers(1, 5), min_size=each, max_size=each)))
        for each in (count, other)
    ]
    first, second = matrix(data, count, 2), matrix(data, other, 2)
    for found in length_matched(first, sizes[0], second, sizes[1], bins=3, resamples=resamples):
        assert is_sound(*found, least=-1, most=1)


def test_percentiles_on_one_side_of_the_estimate_are_widened_to_it() -> None:
    assert percentile_ends(0.5, np.array([0.6, 0.7, math.nan])) == pytest.approx((0.5, 0.6975))
    assert percentile_ends(0.8, np.array([0.6, 0.7])) == pytest.approx((0.6025, 0.8))
    assert np.isnan(percentile_ends(math.nan, np.array([1.0]))).all()
    assert np.isnan(percentile_ends(1.0, np.array([math.nan]))).all()
