"""The bounds on what is held in memory at once."""

from __future__ import annotations

import pytest

from attnaudit.core import memory_budget


@pytest.mark.parametrize("bound", ["texts_at_once", "rows_at_once"])
def test_a_part_holds_as_many_as_fit_and_at_least_one(
    bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_budget, "TOKENS_AT_ONCE", 100)
    monkeypatch.setattr(memory_budget, "NUMBERS_AT_ONCE", 100)
    at_once = getattr(memory_budget, bound)
    assert [at_once(each) for each in (0, 1, 30, 50, 51, 100, 101)] == [100, 100, 3, 2, 1, 1, 1]
