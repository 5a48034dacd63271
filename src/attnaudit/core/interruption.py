"""Ctrl-C and SIGTERM alike: stop, leave nothing half-written, say what was kept."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from types import FrameType
from typing import NoReturn

completed: list[Path] = []  # the outputs this process has finished; an interruption keeps them
_MAX_NAMED = 5


class Interrupted(BaseException):
    """Raised by SIGINT and SIGTERM.

    Not a KeyboardInterrupt: Typer would catch that and print "Aborted!".
    """

    def __init__(self, signal_number: int) -> None:
        self.exit_code = 128 + signal_number

    def __str__(self) -> str:
        if not completed:
            return (
                "interrupted before anything was finished; nothing half-written is left. "
                "The same command starts again."
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
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise Interrupted(number)
