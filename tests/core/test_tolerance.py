"""Tolerances of rounding."""

from __future__ import annotations

import math

import pytest
import torch

from attnaudit.core.tolerance import tolerance_of


def test_tolerance_is_absolute_in_float64_and_relative_in_float32() -> None:
    assert tolerance_of(torch.tensor([1e6], dtype=torch.float64)) == 1e-10
    assert tolerance_of(torch.tensor([-200.0, math.nan])) == pytest.approx(2e-3)
    assert tolerance_of(torch.tensor([0.1])) == 1e-5
    assert tolerance_of(torch.tensor([])) == 1e-5
