"""One call of `grid`: hands cells to workers, records how they end, knows the state of all."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from attnaudit.core.notices import detail, notice
from attnaudit.core.tasks import Outcome, Task, Workers, run_tasks
from attnaudit.results import store
from attnaudit.training.grids.cell_task import run_cell
from attnaudit.training.grids.cells import Cell
from attnaudit.training.grids.display import Display
from attnaudit.training.grids.finished import finished_folders
from attnaudit.training.grids.ledger import CellList, CellRecord, Ledger
from attnaudit.training.grids.schedule import Schedule
from attnaudit.training.grids.status import CellStatus, GridStatus, measured_costs, remaining
from attnaudit.training.run_lock import worker_of


class Where(NamedTuple):
    """Where cells find their data, and what they compute on."""

    data_dir: Path | None
    device: str


class Session:
    """The cells of a grid while it runs.

    Parameters
    ----------
    cells : of the grid, a base before its interventions.
    listed : the same as they are listed.
    retry_failed : run only the cells that failed before, and those that depend on them.
    """

    def __init__(
        self,
        cells: tuple[Cell, ...],
        listed: CellList,
        ledger: Ledger,
        where: Where,
        *,
        retry_failed: bool,
    ) -> None:
        self.listed, self.ledger, self.where = listed, ledger, where
        self._cells = {cell.name: cell for cell in cells}
        self._costs = measured_costs(listed, ledger)
        self._begun: dict[str, float] = {}  # time.monotonic at the start of what is running
        self._states = self._first_states()
        todo = ("failed", "not run") if retry_failed else ("waiting",)
        self._schedule = Schedule(
            [cell for cell in listed.cells if self._states[cell.name].state in todo],
            [name for name, cell in self._states.items() if cell.state == "done"],
            self._is_busy,
        )
        for cell in self._schedule.waiting:
            self._states[cell.name] = CellStatus(cell.name, cell.label, "waiting")

    def run(self, workers: Workers, show: Display) -> None:
        """Run every cell that is to be run and can be."""
        while len(self._schedule):
            before = len(self._schedule)
            for outcome in run_tasks(self._tasks(), workers, on_start=self._started):
                self._ended(outcome, show)
            if len(self._schedule) == before:  # only cells whose base is not to be run now
                break

    def status(self) -> GridStatus:
        """The state of the grid now."""
        now = time.monotonic()
        states = tuple(
            replace(cell, seconds=now - self._begun[name])
            if cell.state == "running" and name in self._begun
            else cell
            for name, cell in list(self._states.items())
        )
        return GridStatus(states, *remaining(self.listed, states, self._costs))

    def _first_states(self) -> dict[str, CellStatus]:
        """Done, failed before, or waiting; a cell whose base did not fail is not "not run"."""
        finished = finished_folders(tuple(self._cells.values()), self.ledger, self.where.data_dir)
        states: dict[str, CellStatus] = {}
        for cell in self.listed.cells:
            record = self.ledger.read(cell.name)
            state, seconds, error, log = "waiting", None, None, None
            if cell.name in finished:
                state, seconds = "done", None if record is None else record.seconds
            elif record is not None and (
                record.state == "failed"
                or (record.state == "not run" and states[str(cell.base)].state == "failed")
            ):
                state, seconds, error = record.state, record.seconds, record.error
                log = self.ledger.log(cell.name)
            states[cell.name] = CellStatus(
                cell.name,
                cell.label,
                state,
                seconds,
                error,
                finished.get(cell.name),
                log if log is not None and log.is_file() else None,
            )
        return states

    def _is_busy(self, name: str) -> bool:
        worker = worker_of(self.ledger.out / name)
        return worker is not None and worker.alive

    def _tasks(self) -> Iterator[Task]:
        for cell in self._schedule.ready():
            known = self._cells[cell.name]
            data_dir = None if self.where.data_dir is None else str(self.where.data_dir)
            arguments = (
                known.choices,
                known.intervention,
                str(self.ledger.out),
                data_dir,
                self.where.device,
            )
            yield Task(cell.name, run_cell, arguments)

    def _started(self, name: str) -> None:
        self._begun[name] = time.monotonic()
        self._states[name] = replace(self._states[name], state="running")
        detail(f"started: {self._states[name].label}")

    def _ended(self, outcome: Outcome, show: Display) -> None:
        name, seconds, attempts = outcome.key, outcome.seconds, outcome.attempts
        if outcome.error is None:
            for text in outcome.value["notices"]:
                notice(f"{self._states[name].label}: {text}")
            record = CellRecord("done", outcome.value["folder"], seconds, attempts)
            self._succeeded(name, record, show)
            return
        record = CellRecord("failed", None, seconds, attempts, outcome.error)
        self._failed(name, record, outcome.traceback or outcome.error, show)
        for cell in self._schedule.end(name, succeeded=False):
            reason = f"its base failed: {self._states[name].label}"
            self._failed(cell.name, CellRecord("not run", attempts=0, error=reason), None, show)

    def _succeeded(self, name: str, record: CellRecord, show: Display) -> None:
        self._record(name, record)
        self._schedule.end(name, succeeded=True)
        folder = self.ledger.out / str(record.folder)
        cell = self._cells[name]
        if cell.intervention is None:
            self._costs.learn(store.read_run(folder))
        elif record.seconds is not None:
            self._costs.learn_intervention(
                cell.intervention, cell.experiment.choices(), record.seconds
            )
        self._set(CellStatus(name, cell.label, "done", record.seconds, folder=folder), show)

    def _failed(self, name: str, record: CellRecord, log: str | None, show: Display) -> None:
        is_stored = self._record(name, record, log)
        path = self.ledger.log(name) if is_stored and log is not None else None
        label = self._states[name].label
        state = CellStatus(name, label, record.state, record.seconds, record.error, log=path)
        self._set(state, show)

    def _record(self, name: str, record: CellRecord, log: str | None = None) -> bool:
        """Store how a cell ended; a full disk does not end the grid. Whether it is stored."""
        try:
            self.ledger.record(name, record, log)
        except OSError as error:
            kept = "Its results are kept" if record.state == "done" else "It will be run again"
            notice(
                f"{self._states[name].label}: {record.state}, but this could not be noted "
                f"({error}). {kept} when the same command is given again"
            )
            return False
        return True

    def _set(self, cell: CellStatus, show: Display) -> None:
        self._states[cell.name] = cell
        show(cell, self.status())
