"""Progress of long work: a bar on a terminal, now and then a plain line anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from attnaudit.core.verbosity import Verbosity, verbosity

_UPDATE_EVERY = 1000  # texts
_LINE_EVERY = 30.0  # seconds between plain lines; short work has none


def _is_shown(wanted: bool) -> bool:
    return wanted and verbosity() is not Verbosity.QUIET and sys.stderr.isatty()


def _is_wanted() -> bool:
    return verbosity() is not Verbosity.QUIET


class _Lines:
    """Plain lines about work of `total` steps."""

    def __init__(self, title: str, total: int) -> None:
        self._title, self._total, self._done = title, total, 0
        self._started = self._last = time.monotonic()

    def advance(self, steps: int) -> None:
        """Say how far the work is, unless that was said a moment ago."""
        self._done += steps
        now = time.monotonic()
        if now - self._last < _LINE_EVERY or not 0 < self._done < self._total:
            return
        self._last = now
        left = (now - self._started) * (self._total - self._done) / self._done
        print(
            f"{self._title}: {self._done} of {self._total}, about {duration(left)} left",
            file=sys.stderr,
            flush=True,
        )


def duration(seconds: float) -> str:
    """A time in words, as precise as it is of use.

    Examples
    --------
    >>> duration(42), duration(125), duration(9000)
    ('42 seconds', '2 minutes', '2.5 hours')
    """
    if seconds > 5400:
        return f"{seconds / 3600:.1f} hours"
    return f"{seconds / 60:.0f} minutes" if seconds > 90 else f"{seconds:.0f} seconds"


@contextmanager
def bar(title: str, total: int, *, show: bool = True) -> Iterator[Callable[..., None]]:
    """A bar of `total` steps.

    Yields ``advance(note, steps=1)``: that many steps are done; the note is shown. If stderr is no
    terminal, as in CI, there is a line every 30 seconds instead, with the time left.
    """
    if not _is_shown(show):
        lines = _Lines(title, total) if show and _is_wanted() else None
        yield lambda note, steps=1: None if lines is None else lines.advance(steps)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as display:
        task = display.add_task(title, total=total, note="")
        yield lambda note, steps=1: display.update(task, advance=steps, note=note)


@contextmanager
def counter(title: str, *, show: bool = True) -> Iterator[Callable[[], None]]:
    """A count of texts whose total is unknown. Yields ``advance()``: one more is done."""
    if not _is_shown(show):
        yield lambda: None
        return
    from rich.console import Console

    count, started, console = 0, time.monotonic(), Console(stderr=True)
    with console.status(title) as display:

        def advance() -> None:
            nonlocal count
            count += 1
            if count % _UPDATE_EVERY == 0:
                rate = count / max(time.monotonic() - started, 1e-9)
                display.update(f"{title}: {count:,} texts, {rate:,.0f} per second")

        yield advance


@contextmanager
def transfer(
    title: str, total: int | None, *, done: int = 0, show: bool = True
) -> Iterator[Callable[[int], None]]:
    """A download of `total` bytes, None if unknown, of which `done` are here already.

    Yields ``advance(count)``: `count` more bytes have arrived.
    """
    if not _is_shown(show):
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as display:
        task = display.add_task(title, total=total, completed=done)
        yield lambda count: display.update(task, advance=count)
