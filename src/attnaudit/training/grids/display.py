"""What a running grid shows: a live table on a terminal, one line per cell elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from attnaudit.core.verbosity import Verbosity, verbosity
from attnaudit.training.grids.status import CellStatus, GridStatus, in_words

if TYPE_CHECKING:
    from rich.console import RenderableType

_SHOWN = 8  # running and failed cells that the table has room for, each


class Display(Protocol):
    """Called whenever a cell has ended, with that cell and the state of the grid."""

    def __call__(self, cell: CellStatus, grid: GridStatus) -> None: ...


@contextmanager
def display(current: Callable[[], GridStatus], *, show: bool = True) -> Iterator[Display]:
    """Show a grid for the length of a block, on the standard error.

    Parameters
    ----------
    current : returns the state of the grid now.
    """
    if not show or verbosity() is Verbosity.QUIET:
        yield lambda cell, grid: None
        return
    if not sys.stderr.isatty():
        yield _print_line
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    with Live(
        get_renderable=lambda: grid_table(current()),
        console=console,
        refresh_per_second=1,
        transient=True,
    ):
        yield lambda cell, grid: _print_failure(cell, console.print)


def grid_table(grid: GridStatus) -> RenderableType:
    """The state of a grid as a table of rich: what is running and what has failed."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=False, box=None)
    table.add_column(width=12)
    table.add_column(width=14, justify="right")
    table.add_column(overflow="ellipsis", no_wrap=True)
    colours = {"running": "cyan", "failed": "red", "interrupted": "yellow"}
    for state, colour in colours.items():
        cells = grid.of(state)
        for cell in cells[:_SHOWN]:
            took = "" if cell.seconds is None else in_words(cell.seconds)
            text = cell.label if cell.error is None else f"{cell.label}: {cell.error}"
            table.add_row(Text(state, style=colour), took, Text(text))
        if len(cells) > _SHOWN:
            table.add_row("", "", f"and {len(cells) - _SHOWN} more {state}")
    return Group(Text(grid.sentence), table)


def _print_line(cell: CellStatus, grid: GridStatus) -> None:
    ended = len(grid.of("done", "failed", "not run"))
    took = "" if cell.seconds is None else f" in {in_words(cell.seconds)}"
    reason = "" if cell.error is None else f": {cell.error}"
    now = time.strftime("%H:%M:%S")
    head = f"{now} [{ended}/{len(grid.cells)}] {cell.state}{took}: {cell.label}{reason}"
    print(f"{head}; {grid.sentence}", file=sys.stderr, flush=True)


def _print_failure(cell: CellStatus, write: Callable[..., None]) -> None:
    if cell.error is not None:
        write(f"{cell.state}: {cell.label}: {cell.error}", markup=False, highlight=False)
