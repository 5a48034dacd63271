"""An interruption says what was kept."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import pytest

from attnaudit.core.interruption import Interrupted, watch


def test_an_interruption_before_anything_is_finished_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("attnaudit.core.interruption.completed", [])
    assert "nothing half-written is left" in str(Interrupted(signal.SIGINT))


def test_outputs_that_were_completed_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = [Path(f"run-{number}") for number in range(7)]
    monkeypatch.setattr("attnaudit.core.interruption.completed", outputs)
    interrupted = Interrupted(signal.SIGTERM)
    assert "run-4 and 2 more" in str(interrupted)
    assert interrupted.exit_code == 143


def test_signals_are_left_alone_outside_the_main_thread() -> None:
    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=watch)
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGTERM) is before
