"""An interruption says what was kept."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from attnaudit.core.interruption import Interrupted, watch


def test_an_interruption_before_anything_is_finished_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("attnaudit.core.interruption.completed", [])
    assert "no result is half-written" in str(Interrupted(signal.SIGINT))


def test_outputs_that_were_completed_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = [Path(f"run-{number}") for number in range(7)]
    monkeypatch.setattr("attnaudit.core.interruption.completed", outputs)
    interrupted = Interrupted(signal.SIGTERM)
    assert "run-4 and 2 more" in str(interrupted)
    assert interrupted.exit_code == 143


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """Signals raise Interrupted; the list gets whatever else Python ignored."""
    ignored: list[object] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    monkeypatch.setattr(sys, "unraisablehook", lambda each: ignored.append(each.exc_value))
    watch()
    yield ignored
    for number, handler in before.items():
        signal.signal(number, handler)


class SignalWhenDeleted:
    """An object in whose deletion, where Python ignores exceptions, a signal arrives."""

    def __init__(self, number: signal.Signals) -> None:
        self.number = number

    def __del__(self) -> None:
        signal.raise_signal(self.number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_arrives_while_an_object_is_deleted_still_interrupts(
    number: signal.Signals, watched: list[object]
) -> None:
    deleted = [SignalWhenDeleted(number)]
    deleted.clear()
    with pytest.raises(Interrupted) as interrupted:
        time.sleep(5)
    assert interrupted.value.exit_code == 128 + number
    assert not watched


def test_other_ignored_exceptions_go_to_the_hook_that_was_there(watched: list[object]) -> None:
    class FailsWhenDeleted:
        def __del__(self) -> None:
            raise ValueError("not an interruption")

    watch()  # again: the hook of before is still found
    FailsWhenDeleted()
    assert [str(each) for each in watched] == ["not an interruption"]


def test_signals_are_left_alone_outside_the_main_thread() -> None:
    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=watch)
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGTERM) is before
