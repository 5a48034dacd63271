"""What a user should know though nothing failed: what was left out, set aside, removed. The command line prints it, a notebook shows it."""

from __future__ import annotations

import logging
from pathlib import Path

_LOG = logging.getLogger("attnaudit")
finished: list[
    Path
] = []  # outputs this process has completed: what an interruption leaves untouched


def notice(text: str) -> None:
    _LOG.warning(text)
