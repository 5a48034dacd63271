"""The exit codes of the command line, all of them; docs/grid.md has the same table for users."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the exit code of a command means.

    An interrupted command exits with 128 + the number of the signal: 130 after Ctrl-C, 143 after
    SIGTERM.
    """

    DONE = 0
    NEGATIVE = 1  # the answer is no: a law is broken (check), a file is damaged (verify)
    INPUT = 2  # an error that the user can fix, explained on the standard error
    GATE_CLOSED = 3  # a condition of --fail-if holds
    CELLS_FAILED = 4  # some cells of a grid, or parts of an audit, failed; the others are kept
    INTERNAL = 70  # an error in attnaudit itself, with a traceback
