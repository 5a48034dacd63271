"""How much long commands say about themselves: one setting for progress bars and notices."""

from __future__ import annotations

import logging
from enum import IntEnum


class Verbosity(IntEnum):
    """The lowest level of log messages that are shown.

    QUIET: results and errors only. NORMAL: progress and notices too. VERBOSE: also each phase.
    """

    QUIET = logging.ERROR
    NORMAL = logging.WARNING
    VERBOSE = logging.INFO


_current = Verbosity.NORMAL


def set_verbosity(verbosity: Verbosity) -> None:
    """Choose how much is shown, in this process, from now on."""
    global _current
    _current = verbosity


def verbosity() -> Verbosity:
    """What was chosen.

    Examples
    --------
    >>> verbosity().name
    'NORMAL'
    """
    return _current
