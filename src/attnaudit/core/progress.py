"""Progress bars for long work; nothing is shown unless stderr is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from attnaudit.core.verbosity import Verbosity, verbosity

_UPDATE_EVERY = 1000  # texts


def _is_shown(wanted: bool) -> bool:
    return wanted and verbosity() is not Verbosity.QUIET and sys.stderr.isatty()


@contextmanager
def bar(title: str, total: int, *, show: bool = True) -> Iterator[Callable[..., None]]:
    """A bar of `total` steps.

    Yields ``advance(note, steps=1)``: that many steps are done; the note is shown.
    """
    if not _is_shown(show):
        yield lambda note, steps=1: None
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
