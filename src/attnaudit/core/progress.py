"""One progress bar for all long work; silent where nobody watches."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(title: str, total: int, *, show: bool = True) -> Iterator[Callable[[str], None]]:
    """Yields advance(note): one step done, with a word on it."""
    if not show or not sys.stderr.isatty():
        yield lambda note: None
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
        yield lambda note: display.update(task, advance=1, note=note)


@contextmanager
def counter(title: str, *, show: bool = True) -> Iterator[Callable[[], None]]:
    """Yields advance(): one more done, of a number nobody knows yet. Drawn only for work that takes a while."""
    if not show or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console

    count, started, console = 0, time.monotonic(), Console(stderr=True)
    with console.status(title) as display:

        def advance() -> None:
            nonlocal count
            count += 1
            if count % 1000 == 0:
                rate = count / max(time.monotonic() - started, 1e-9)
                display.update(f"{title}: {count:,} texts, {rate:,.0f} a second")

        yield advance


@contextmanager
def transfer(
    title: str, total: int | None, *, done: int = 0, show: bool = True
) -> Iterator[Callable[[int], None]]:
    """Yields advance(count): so many more bytes have come. `done` came before; `total` is None where nobody said."""
    if not show or not sys.stderr.isatty():
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
