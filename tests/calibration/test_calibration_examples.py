"""The examples in the docstrings of the calibration run."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = (
    "corpus",
    "entry",
    "explanations.truth",
    "handmade",
    "labels",
    "outcomes",
    "shapley",
    "training",
    "truth",
    "zoo",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"benchmarks.calibration.{name}"))
    assert found.attempted > 0
    assert found.failed == 0
