"""run.log: what was run, with which choices and versions, how long each phase took, warnings."""

from __future__ import annotations

import json
import logging
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from attnaudit.core.notices import detail
from attnaudit.core.paths import without_folders

RUN_LOG = "run.log"  # among the files of a run, and covered by its checksums
_LOGGER = logging.getLogger("attnaudit")


class RunLog:
    """Collects the lines of run.log while a run is made. No line names a folder or a user.

    Examples
    --------
    >>> with recording() as log:
    ...     log.phase("training")
    ...     log.phase("audit")
    >>> [line.split(": ")[0] for line in log.lines]
    ['training']
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._phase: str | None = None
        self._since = time.monotonic()

    def phase(self, name: str) -> None:
        """End the current phase and begin another."""
        now = time.monotonic()
        if self._phase is not None:
            line = f"{self._phase}: {now - self._since:.2f} s"
            self.lines.append(line)
            detail(line)
        self._phase, self._since = name, now

    def warning(self, text: str) -> None:
        """Add a warning, with absolute paths cut to file names."""
        self.lines.append(f"warning: {without_folders(' '.join(text.split()))}")

    def text(
        self, title: str, choices: Mapping[str, Any], versions: Mapping[str, str], threads: int
    ) -> str:
        """The whole file; what is still going on is left out."""
        version_list = ", ".join(f"{name} {version}" for name, version in versions.items())
        chosen = [f"  {key} = {json.dumps(value)}" for key, value in sorted(choices.items())]
        head = [title, f"versions: {version_list}", f"threads: {threads}", "choices:", *chosen]
        return "\n".join([*head, *self.lines]) + "\n"


@contextmanager
def recording() -> Iterator[RunLog]:
    """Record notices of attnaudit and Python's warnings for the length of a block.

    They are shown as ever.
    """
    log = RunLog()
    handler = _Recorder(log)
    _LOGGER.addHandler(handler)
    try:
        with warnings.catch_warnings():
            show = warnings.showwarning

            def show_and_record(message: Any, category: Any, *place: Any, **more: Any) -> None:
                log.warning(f"{category.__name__}: {message}")
                show(message, category, *place, **more)

            warnings.showwarning = show_and_record
            yield log
    finally:
        _LOGGER.removeHandler(handler)


class _Recorder(logging.Handler):
    def __init__(self, log: RunLog) -> None:
        super().__init__(logging.WARNING)
        self.log = log

    def emit(self, record: logging.LogRecord) -> None:
        self.log.warning(record.getMessage())
