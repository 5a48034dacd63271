"""Cosine distance against SciPy, and against exact arithmetic for tiny angles."""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy.spatial.distance import cosine

from attnaudit.statistics.cosine import cosine_distance


def test_cosine_distance_equals_scipy_and_broadcasts() -> None:
    draw = torch.Generator().manual_seed(0)
    a, b = torch.randn(3, 1, 5, generator=draw), torch.randn(3, 4, 5, generator=draw)
    found = cosine_distance(a, b)
    assert found.shape == (3, 4)
    for row in range(3):
        for column in range(4):
            expected = cosine(a[row, 0].double(), b[row, column].double())
            assert math.isclose(found[row, column], expected, abs_tol=1e-14)
    np.testing.assert_allclose(cosine_distance(b, -3 * b), np.full((3, 4), 2.0), atol=1e-14)


def test_tiny_angles_are_not_lost() -> None:
    """1 − cos of this angle is 5e-25, far below what 1 − 0.999… could show."""
    found = cosine_distance(
        torch.tensor([1.0, 0.0]), torch.tensor([1.0, 1e-12], dtype=torch.float64)
    )
    assert math.isclose(found, 5e-25, rel_tol=1e-9)


def test_a_vector_of_zeros_has_no_direction() -> None:
    assert cosine_distance(torch.zeros(3), torch.ones(3)).isnan()
    assert cosine_distance(torch.ones(2, 3), torch.zeros(3)).isnan().all()
