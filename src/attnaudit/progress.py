"""One progress bar for all long work; silent where nobody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(title: str, total: int, *, show: bool = True) -> Iterator[Callable[[str], None]]:
    """Yields advance(note): one step done, with a word on it."""
    if not show or not sys.stderr.isatty():
        yield lambda note: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

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
