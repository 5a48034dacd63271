"""Ctrl-C and SIGTERM alike: stop, leave nothing half-written, say what was kept."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

completed: list[Path] = []  # the outputs this process has finished; an interruption keeps them
_MAX_NAMED = 5
_SECONDS_UNTIL_AGAIN = 0.05
_other_hook = sys.unraisablehook  # for whatever else Python ignores


class Interrupted(BaseException):
    """Raised by SIGINT and SIGTERM.

    Not a KeyboardInterrupt: Typer would catch that and print "Aborted!".
    """

    def __init__(self, signal_number: int) -> None:
        self.signal_number = signal_number
        self.exit_code = 128 + signal_number

    def __str__(self) -> str:
        if not completed:
            return (
                "interrupted before a result or a part of one was finished; no result is "
                "half-written. The same command starts again."
            )
        more = len(completed) - _MAX_NAMED
        kept = ", ".join(map(str, completed[:_MAX_NAMED])) + (
            f" and {more} more" if more > 0 else ""
        )
        return f"interrupted. Kept, each complete: {kept}. The same command goes on from there."


def watch() -> None:
    """Let SIGINT and SIGTERM raise Interrupted from now on.

    Python delivers signals to the main thread only; called from another thread, this does nothing.
    """
    global _other_hook
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    if sys.unraisablehook is not _send_again:
        _other_hook, sys.unraisablehook = sys.unraisablehook, _send_again


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise Interrupted(number)


def _send_again(ignored: UnraisableHookArgs) -> None:
    """Send a signal once more whose exception Python has just ignored.

    A signal may arrive while an object is being deleted, where exceptions are printed and dropped;
    the command would go on as if nobody had asked it to stop.
    """
    if isinstance(ignored.exc_value, Interrupted):
        number = ignored.exc_value.signal_number
        again = threading.Timer(_SECONDS_UNTIL_AGAIN, _send_to_main_thread, (number,))
        again.daemon = True
        again.start()
    else:
        _other_hook(ignored)


def _send_to_main_thread(number: int) -> None:
    if hasattr(signal, "pthread_kill"):  # wakes the main thread if it waits
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:  # Windows
        signal.raise_signal(number)
