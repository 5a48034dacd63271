"""Scores that differ by rounding become equal; scores that differ stay as they are."""

from __future__ import annotations

import math

import torch

from attnaudit.statistics.ties import tie_rounding


def tied(scores: list[float], tolerance: float, **options: float) -> list[float]:
    values = torch.tensor([scores], dtype=torch.float64)
    return tie_rounding(values, torch.ones_like(values).bool(), tolerance, **options)[0].tolist()


def test_scores_within_the_tolerance_become_the_smallest_of_them() -> None:
    assert tied([0.3, 0.1, 0.3 + 1e-9, 0.2], 1e-8) == [0.3, 0.1, 0.3, 0.2]


def test_scores_further_apart_stay_as_they_are() -> None:
    assert tied([0.3, 0.1, 0.3 + 1e-7], 1e-8) == [0.3, 0.1, 0.3 + 1e-7]


def test_a_relative_tolerance_grows_with_the_scores() -> None:
    scores = [1e6, 1e6 + 1e-4, 1.0, 1.0 + 1e-4]
    assert tied(scores, 0.0, relative=1e-9) == [1e6, 1e6, 1.0, 1.0 + 1e-4]


def test_many_close_scores_that_spread_wide_as_a_whole_are_left_alone() -> None:
    scores = [index * 1e-9 for index in range(100)]
    assert tied(scores, 2e-9) == scores


def test_nan_and_masked_scores_stay_as_they_are() -> None:
    scores = torch.tensor([[0.3, math.nan, 0.3 + 1e-9, 0.3 + 2e-9]], dtype=torch.float64)
    mask = torch.tensor([[True, True, True, False]])
    result = tie_rounding(scores, mask, 1e-8)[0]
    assert result[1].isnan()
    assert result[[0, 2, 3]].tolist() == [0.3, 0.3, 0.3 + 2e-9]
