"""The state of every cell of a grid, from the files alone: from any process, at any time."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from attnaudit.core.errors import InputError
from attnaudit.results import store
from attnaudit.training.grids.costs import Costs, Estimate
from attnaudit.training.grids.ledger import CellList, Ledger, ListedCell
from attnaudit.training.run_lock import worker_of

STATES = ("done", "running", "failed", "interrupted", "not run", "waiting")


@dataclass(frozen=True)
class CellStatus:
    """The state of one cell.

    Attributes
    ----------
    name, label : as listed.
    state : one of "done", "running", "failed", "interrupted" (its process ended without
        finishing; the same grid goes on with it), "not run" (its base failed) and "waiting".
    seconds : that it took, or has been running for; None if it has not begun, or if nobody knows.
    error : why it failed or was not run.
    folder : of the results, if done.
    log : file with the traceback, if there is one.
    expected : seconds that it is expected to take, if it is not done.
    """

    name: str
    label: str
    state: str
    seconds: float | None = None
    error: str | None = None
    folder: Path | None = None
    log: Path | None = None
    expected: float | None = None


@dataclass(frozen=True)
class GridStatus:
    """The states of all cells of a grid.

    Attributes
    ----------
    cells : in the order of the grid.
    seconds_left : estimate for what is running and waiting, with all workers; None if nothing is.
    source : what the estimate rests on: "measured" runs or built-in "defaults".
    """

    cells: tuple[CellStatus, ...]
    seconds_left: float | None = None
    source: str = "measured"

    def of(self, *states: str) -> tuple[CellStatus, ...]:
        """The cells in any of these states."""
        return tuple(cell for cell in self.cells if cell.state in states)

    @property
    def failed(self) -> tuple[CellStatus, ...]:
        """The cells that failed, or were not run because their base failed."""
        return self.of("failed", "not run")

    @property
    def sentence(self) -> str:
        """The counts, and the time left, in one line."""
        counts = Counter(cell.state for cell in self.cells)
        state_counts = [f"{counts[state]} {state}" for state in STATES if counts[state]]
        left = f"; {time_left(self)}" if self.seconds_left else ""
        return f"{len(self.cells)} cells: {', '.join(state_counts)}{left}"

    def __str__(self) -> str:
        lines = [self.sentence]
        for cell in self.cells:
            took = "" if cell.seconds is None else in_words(cell.seconds)
            if cell.expected is not None:
                took = f"~ {in_words(cell.expected)}"
            lines.append(f"  {cell.state:11s} {took:>12s}  {cell.label}")
            if cell.error is not None:
                lines.append(f"    {cell.error}")
            if cell.log is not None:
                lines.append(f"    log: {cell.log}")
        return "\n".join(lines)


def status(out: str | Path) -> GridStatus:
    """The state of the grid in a folder, whether or not it is running.

    Parameters
    ----------
    out : the folder that was given to `grid`. If several grids were run there, the last one
        started counts, and others that are running now.

    Raises
    ------
    InputError
        If no grid was run there.
    """
    ledger = Ledger(Path(out))
    lists = ledger.lists()
    if not lists:
        raise InputError(
            f"{out} holds no grid. Give the folder that `attnaudit grid` writes to (--out)."
        )
    return status_of(_chosen(ledger, lists), ledger)


def status_of(listed: CellList, ledger: Ledger, costs: Costs | None = None) -> GridStatus:
    """The state of these cells; `costs` if they are known already."""
    states = tuple(cell_status(cell, ledger) for cell in listed.cells)
    if costs is None:
        costs = measured_costs(listed, ledger)
    left, source = remaining(listed, states, costs)
    states = tuple(
        replace(state, expected=estimate(cell, costs).seconds)
        if state.state in ("waiting", "interrupted")
        else state
        for cell, state in zip(listed.cells, states, strict=True)
    )
    return GridStatus(states, left, source)


def cell_status(cell: ListedCell, ledger: Ledger) -> CellStatus:
    """The state of one cell."""
    record = ledger.read(cell.name)
    folder = ledger.result(cell.name, record)
    if folder is not None:
        took_here = None if record is None else record.seconds
        seconds = took_here if cell.intervention is not None else _seconds_of(folder)
        return CellStatus(cell.name, cell.label, "done", seconds, folder=folder)
    worker = worker_of(ledger.out / cell.name)
    if worker is not None and worker.alive:
        return CellStatus(cell.name, cell.label, "running", time.time() - worker.started)
    if record is not None and record.state in ("failed", "not run"):
        log = ledger.log(cell.name)
        return CellStatus(
            cell.name,
            cell.label,
            record.state,
            record.seconds,
            record.error,
            log=log if log.is_file() else None,
        )
    return CellStatus(cell.name, cell.label, "waiting" if worker is None else "interrupted")


def measured_costs(listed: CellList, ledger: Ledger) -> Costs:
    """The costs of all finished runs in the folder, and of the grid's interventions."""
    costs = Costs.measured(store.find_runs([ledger.out]))
    for cell in listed.cells:
        record = None if cell.intervention is None else ledger.read(cell.name)
        if cell.intervention is not None and record is not None and record.state == "done":
            costs.learn_intervention(cell.intervention, cell.choices, record.seconds or 0.0)
    return costs


def estimate(cell: ListedCell, costs: Costs) -> Estimate:
    """The time that a cell will take."""
    if cell.intervention is None:
        return costs.of_run(cell.choices)
    return costs.of_intervention(cell.intervention, cell.choices)


def remaining(
    listed: CellList, states: tuple[CellStatus, ...], costs: Costs
) -> tuple[float | None, str]:
    """Seconds until the grid is done, and what the estimate rests on."""
    left, longest, running, sources = 0.0, 0.0, 0, set()
    for cell, state in zip(listed.cells, states, strict=True):
        if state.state in ("done", "failed", "not run"):
            continue
        expected = estimate(cell, costs)
        rest = expected.seconds
        if state.state == "running":
            running += 1
            rest = max(0.0, rest - (state.seconds or 0.0))
        left, longest = left + rest, max(longest, rest)
        sources.add(expected.source)
    if not sources:
        return None, "measured"
    source = "defaults" if "defaults" in sources else "measured"
    workers = max(listed.workers, running)  # of a cluster, as many as are seen to run
    return max(left / workers, longest), source


def in_words(seconds: float) -> str:
    """A duration for people.

    Examples
    --------
    >>> in_words(7.26), in_words(90), in_words(5400), in_words(360_000)
    ('7.3 s', '1 min 30 s', '1 h 30 min', '4 d 4 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def time_left(grid: GridStatus) -> str:
    """The estimate in words."""
    rough = "" if grid.source == "measured" else " (a rough guess: nothing alike was measured yet)"
    return f"about {in_words(grid.seconds_left or 0.0)} left{rough}"


def _chosen(ledger: Ledger, lists: list[CellList]) -> CellList:
    """The grid that was started last, with the cells of others that are running."""
    last, *others = lists
    cells = {cell.name: cell for cell in last.cells}
    for other in others:
        if any(cell_status(cell, ledger).state == "running" for cell in other.cells):
            cells |= {cell.name: cell for cell in other.cells if cell.name not in cells}
    return CellList(tuple(cells.values()), last.workers, last.started)


def _seconds_of(folder: Path) -> float | None:
    """What a run took, whoever made it."""
    try:
        return float(sum(store.read_run(folder)["seconds"].values()))
    except (InputError, KeyError):
        return None
