"""Kendall next to SciPy gives equal numbers, and times of nested parts count once."""

from __future__ import annotations

import itertools
import math
import sys

import pytest
import torch
from benchmarks.speed import kendall_length, transformer_audit

from attnaudit import statistics


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("length", [2, 20, 60])
def test_both_sides_give_equal_numbers(length: int, ties: bool) -> None:
    line = kendall_length.measured(3, length, ties, 1)
    assert line.difference <= kendall_length.TOLERANCE
    assert line.ours > 0
    assert line.scipy > 0


@pytest.mark.parametrize("wrong", [1e-6, math.nan])
def test_other_numbers_are_an_error(wrong: float, monkeypatch: pytest.MonkeyPatch) -> None:
    right = statistics.kendall
    monkeypatch.setattr(
        statistics, "kendall", lambda *given: (right(*given)[0] + wrong, right(*given)[1])
    )
    monkeypatch.setattr(sys, "argv", ["", "--lengths", "20", "--texts", "2", "--repeats", "1"])
    with pytest.raises(SystemExit, match=r"different numbers for texts of \[20, 20\] words"):
        kendall_length.main()


def test_a_part_is_timed_without_the_parts_that_it_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count()  # every look at the clock takes a second
    monkeypatch.setattr(transformer_audit.time, "process_time", lambda: next(clock))
    seconds = transformer_audit.Seconds()
    inner = seconds.timed("inner", lambda: torch.zeros(1))
    outer = seconds.timed("outer", lambda: (inner(), inner()))
    outer()
    assert seconds == {"inner": 2, "outer": 3}
