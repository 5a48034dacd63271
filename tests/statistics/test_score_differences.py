"""Differences in accuracy, F1 and ROC-AUC: standard errors against brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from attnaudit.statistics.interval_kinds import Kind
from attnaudit.statistics.score_differences import (
    accuracy_difference,
    auc_difference,
    f1_difference,
)


def sample(classes: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(classes)
    labels = draw.integers(0, classes, size)
    return labels, *(
        np.where(draw.random(size) < accuracy, labels, draw.integers(0, classes, size))
        for accuracy in (0.8, 0.6)
    )


@pytest.mark.parametrize("classes", [2, 4])
def test_the_interval_of_f1_is_as_wide_as_resampling_says(classes: int) -> None:
    labels, first, second = sample(classes, 800)
    averaged = [1] if classes == 2 else None

    def difference(index: np.ndarray) -> float:
        tables = [
            np.histogram2d(labels[index], each[index], bins=np.arange(classes + 1))[0]
            for each in (first, second)
        ]
        scores = [2 * np.diag(table) / (table.sum(0) + table.sum(1)) for table in tables]
        return float(np.mean((scores[0] - scores[1])[averaged or slice(None)]))

    kind = {"average": "binary" if classes == 2 else "macro"}
    scores = [metrics.f1_score(labels, each, **kind) for each in (first, second)]
    assert difference(np.arange(800)) == pytest.approx(scores[0] - scores[1])
    draw = np.random.default_rng(0)
    resampled = [difference(draw.integers(800, size=800)) for _ in range(600)]
    ends = f1_difference(labels, first, second, classes=averaged)
    assert (ends.high - ends.low) / 2 == pytest.approx(1.96 * np.std(resampled), rel=0.08)
    assert (ends.high + ends.low) / 2 == pytest.approx(difference(np.arange(800)), abs=0.005)


def test_two_added_examples_keep_f1_from_being_certain() -> None:
    """Models that never differ: with more texts, less room for a difference."""
    reaches = []
    for size in (20, 80, 320):
        labels = np.arange(size) % 2
        ends = f1_difference(labels, labels, labels, classes=[1])
        assert ends.low == pytest.approx(-ends.high)
        reaches.append(ends.high)
    assert reaches[0] > 3 * reaches[1] > 9 * reaches[2] > 0


def test_the_interval_of_accuracy_counts_only_texts_on_which_the_models_differ() -> None:
    labels, first, second = sample(2, 300)
    gained = ((first == labels) & (second != labels)).sum()
    lost = ((second == labels) & (first != labels)).sum()
    differences = np.repeat([1, -1, 0], [gained + 1, lost + 1, 300 - gained - lost])
    reach = stats.norm.ppf(0.975) * differences.std() / math.sqrt(302)
    ends = accuracy_difference(labels, first, second)
    assert ends.low == pytest.approx(differences.mean() - reach)
    assert ends.high == pytest.approx(differences.mean() + reach)


def test_the_interval_of_auc_is_delongs() -> None:
    draw = np.random.default_rng(1)
    labels = draw.integers(0, 2, 60)
    scores = [np.round(draw.normal(size=60) + shift * labels, 1) for shift in (1.5, 0.8)]
    placed = []
    for each in scores:
        high, low = each[labels == 1][:, None], each[labels == 0][None]
        placed.append((high > low) + 0.5 * (high == low))
    gap = placed[0] - placed[1]
    variance = sum(gap.mean(axis).var(ddof=1) / gap.shape[1 - axis] for axis in (0, 1))
    value = metrics.roc_auc_score(labels, scores[0]) - metrics.roc_auc_score(labels, scores[1])
    ends = auc_difference(labels, *scores)
    reach = stats.norm.ppf(0.975) * math.sqrt(variance)
    assert ends.low == pytest.approx(value - reach)
    assert ends.high == pytest.approx(value + reach)


def test_few_examples_have_no_interval() -> None:
    labels, first, second = sample(2, 9)
    for make in (accuracy_difference, f1_difference, auc_difference):
        ends = make(labels, first, second)
        assert math.isnan(ends.low)
        assert ends.kind == Kind.FEW
    equal = np.zeros(30, dtype=int)
    assert f1_difference(equal, equal, equal).kind == Kind.EQUAL_UNBOUNDED
