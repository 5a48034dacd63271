"""What a user reads when a statistic rejects its input."""

from __future__ import annotations

import pytest
import torch

from attnaudit import statistics as ours
from attnaudit.core.errors import InputError

X = torch.zeros(2, 3)


MASK = torch.ones(2, 3, dtype=torch.bool)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: ours.kendall(X, X[:, :2], MASK),
            r"one shape \(B,N\): got x \(2, 3\), y \(2, 2\), mask \(2, 3\). Pad",
        ),
        (lambda: ours.spearman(X[0], X[0], MASK[0]), r"got x \(3,\)"),
        (
            lambda: ours.kendall(X, X, MASK.float()),
            r"mask must be a bool tensor.*got torch.float32. Pass mask.bool",
        ),
        (lambda: ours.top_k_kendall(X, X, 0, MASK), "k must be at least 1; got 0"),
        (
            lambda: ours.overlap_at_k(X, X, torch.tensor([2, -1]), MASK),
            "k must be at least 1; got -1",
        ),
        (
            lambda: ours.overlap_at_k(X, X, 1.5, MASK),
            r"integer tensor \(2,\), one per example; got torch.float32",
        ),
        (lambda: ours.top_k_kendall(X, X, torch.ones(3).int(), MASK), r"got torch.int32 \(3,\)"),
        (
            lambda: ours.top_k_kendall(X, X, 1, MASK, fidelity="paper"),
            "'paper'. Choose from: corrected, code",
        ),
        (lambda: ours.top_k_kendall(X, X, 1, MASK, penalty=2), "between 0 and 1; got 2"),
        (
            lambda: ours.weighted_kendall(X, X, X, MASK, combine="sum"),
            "Choose from: additive, multiplicative",
        ),
        (lambda: ours.weighted_kendall(X, X, X - 1, MASK), "weights must not be negative"),
        (lambda: ours.weighted_kendall(X, X, X[:1], MASK), r"weights \(1, 3\)"),
        (lambda: ours.average_ranks(X, MASK[:1]), r"mask \(1, 3\)"),
        (lambda: ours.bootstrap(torch.zeros(2, 3, 4)), r"\(B,\) or \(B,M\); got \(2, 3, 4\)"),
        (lambda: ours.bootstrap(X, level=95), "level must be between 0 and 1; got 95"),
        (lambda: ours.bootstrap(X, resamples=0), "at least 1; got 0"),
    ],
)
def test_errors_say_what_was_expected_and_what_was_given(call, text):
    with pytest.raises(InputError, match=text):
        call()
