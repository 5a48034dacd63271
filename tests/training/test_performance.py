"""Differences in performance between two models, paired by example."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from attnaudit.training.comparisons import compare_performance


def test_performance_differences_are_paired() -> None:
    draw = np.random.default_rng(0)
    labels = torch.tensor(draw.integers(0, 2, 400))
    good = torch.nn.functional.one_hot(
        torch.where(torch.tensor(draw.random(400)) < 0.9, labels, 1 - labels), 2
    ).double()
    better = good.clone()
    wrong = (good.argmax(-1) != labels).nonzero()[:12, 0]
    better[wrong] = better[wrong].flip(-1)  # right where the other is, and on twelve more
    line = compare_performance(labels, better, good).set_index("metric").loc["accuracy"]
    assert line["difference"] == pytest.approx(12 / 400)
    # Paired: the standard error is that of 12 ones among 400, far below that of two accuracies.
    error = np.sqrt(0.03 * 0.97 / 400)
    assert line["low"] == pytest.approx(0.03 - 1.96 * error, abs=0.006)
    assert line["high"] == pytest.approx(0.03 + 1.96 * error, abs=0.006)
    same = compare_performance(labels, good, good).set_index("metric")
    assert (same["difference"] == 0).all()
    # 400 texts without a difference leave a little room for one.
    assert same.loc["accuracy", "high"] == pytest.approx(1.96 * math.sqrt(2) / 402, rel=1e-3)
    assert 0 < same.loc["f1", "high"] < 0.01


def test_many_classes_have_a_narrow_interval_if_every_text_says_the_same() -> None:
    labels = torch.arange(30).repeat(2)
    probs = torch.eye(30)[labels]
    f1 = (
        compare_performance(labels, probs, torch.roll(probs, 1, 1))
        .set_index("metric")
        .filter(like="f1", axis=0)
    )
    assert float(f1["difference"].iloc[0]) == pytest.approx(1)
    assert 0.9 < float(f1["low"].iloc[0]) <= 1
    assert float(f1["high"].iloc[0]) == 1


def test_performance_of_one_example_or_one_class_has_no_made_up_interval() -> None:
    sure = torch.tensor([[0.9, 0.1]])
    one = compare_performance(torch.tensor([0]), sure, sure).set_index("metric")
    assert one.loc["accuracy", "difference"] == 0
    assert math.isnan(one.loc["accuracy", "low"])
    assert one.loc["accuracy", "interval"] == "withheld: fewer than 10 values"
    # No example of class 1, and none predicted: F1 of class 1 is not defined.
    many = compare_performance(
        torch.zeros(30, dtype=torch.int64), sure.expand(30, 2), sure.expand(30, 2)
    )
    lines = many.set_index("metric")
    assert lines.loc["accuracy", "low"] == -lines.loc["accuracy", "high"] < 0
    assert lines.loc["f1", ["low", "high"]].isna().all()
