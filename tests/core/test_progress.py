"""Progress that is not on a terminal: plain lines with the time left, and none for short work."""

from __future__ import annotations

import pytest

from attnaudit.core import progress
from attnaudit.core.verbosity import Verbosity, set_verbosity, verbosity


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_a_line_every_half_minute_with_the_time_left(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    with progress.bar("Auditing", 100) as advance:
        for _ in range(10):
            clock[0] += 20
            advance("", 10)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Auditing: 20 of 100, about 3 minutes left"
    assert len(lines) == 4  # at 40, 80, 120 and 160 seconds; none at the end


def test_quiet_and_short_work_say_nothing(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    before = verbosity()
    with progress.bar("Auditing", 4) as advance:
        advance("", 2)
    set_verbosity(Verbosity.QUIET)
    try:
        with progress.bar("Auditing", 4) as advance:
            clock[0] += 99
            advance("", 2)
    finally:
        set_verbosity(before)
    with progress.bar("Auditing", 4, show=False) as advance:
        clock[0] += 99
        advance("", 2)
    assert capsys.readouterr().err == ""
