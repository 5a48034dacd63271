"""Ctrl-C and SIGTERM alike: stop, leave nothing half-written, say what was kept."""

from __future__ import annotations

import signal
from types import FrameType
from typing import NoReturn

from attnaudit.core.notices import finished


class Interrupted(BaseException):
    """Not a KeyboardInterrupt: the command line's library would take that for its own and print "Aborted!"."""

    def __init__(self, number: int) -> None:
        self.exit_code = 128 + number

    def __str__(self) -> str:
        if not finished:
            return (
                "interrupted before anything was finished; nothing half-written is left. "
                "The same command starts again."
            )
        kept = ", ".join(map(str, finished[:5])) + (
            f" and {len(finished) - 5} more" if len(finished) > 5 else ""
        )
        return f"interrupted. Kept, each complete: {kept}. The same command goes on from there."


def watch() -> None:
    """From now on SIGINT and SIGTERM raise Interrupted."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise Interrupted(number)
