"""Many numbers are rounded together exactly as each of them alone."""

from __future__ import annotations

import numpy as np
import pytest

from attnaudit.report.inline_data import rounded, rounded_all


def numbers() -> np.ndarray:
    """Numbers of all sizes, decimals that lie on a half, and the ends of every range."""
    draw = np.random.default_rng(0)
    special = [0, 1, 10, 100, 1e-12, 1e12, 9999.5, 99995, 999949.99999, 0.99995, 0.099995, 5e-324]
    positive = np.concatenate(
        [
            draw.normal(size=2000),
            10.0 ** draw.uniform(-20, 20, 2000),
            draw.integers(0, 100_000, 2000) + 0.5,
            draw.integers(0, 10**6, 2000) / 1e5 + 5e-6,
            [*special, 1e308, np.inf, np.nan],
        ]
    )
    return np.concatenate([positive, -positive])


@pytest.mark.parametrize("digits", [3, 4, 6, 9])
def test_numbers_are_rounded_together_as_one_by_one(digits: int) -> None:
    values = numbers()
    expected = [rounded(value, digits) for value in values.tolist()]
    found = rounded_all(values, digits)
    assert list(map(repr, found)) == list(map(repr, expected))  # also the sign of -0.0


def test_no_numbers_are_no_numbers() -> None:
    assert rounded_all(np.empty(0)) == []
