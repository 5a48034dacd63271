"""Run a grid: every cell once, going on where it stopped."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attnaudit.core.devices import check_device
from attnaudit.core.interruption import Interrupted
from attnaudit.core.notices import notice
from attnaudit.core.output_files import check_writable
from attnaudit.core.tasks import Workers, as_workers
from attnaudit.training.grids.cells import expand
from attnaudit.training.grids.display import display
from attnaudit.training.grids.ledger import CellList, Ledger
from attnaudit.training.grids.session import Session, Where
from attnaudit.training.grids.spec import read_spec
from attnaudit.training.grids.status import GridStatus, status_of


class GridInterrupted(Interrupted):
    """Ctrl-C or SIGTERM during a grid."""

    def __init__(self, signal_number: int, status: GridStatus, out: Path) -> None:
        super().__init__(signal_number)
        done = len(status.of("done"))
        self._text = (
            f"interrupted: {done} of {len(status.cells)} cells are done and kept, nothing "
            f"half-written is left. The same command goes on; `attnaudit status {out}` shows the "
            "cells."
        )

    def __str__(self) -> str:
        return self._text


def grid(
    spec: Mapping[str, Any] | str | Path,
    out: str | Path = "runs",
    *,
    workers: Workers | int = 1,
    dry_run: bool = False,
    retry_failed: bool = False,
    data_dir: str | Path | None = None,
    device: str = "cpu",
    show_progress: bool = True,
) -> GridStatus:
    """Train and audit every combination of a grid, each in its run directory below `out`.

    Does what `attnaudit grid` does. Cells that are finished, by a grid or by `attnaudit run`, are
    not run again. A cell that fails is recorded, and the others go on.

    Parameters
    ----------
    spec : path of a TOML file, or a dict of the same shape; see docs/grid.md.
    out : folder that holds the run directories.
    workers : processes on this machine; 1 runs the cells in this process, one after the other.
        `Workers` for more choices: threads per process, on which the last bits of the numbers
        depend, or a Dask cluster, where `out` must be the same folder.
    dry_run : only say what would be done, and how long it may take. Nothing is written.
    retry_failed : run only the cells that failed before, and those that depend on them.
    data_dir : folder of the corpora; if omitted, the environment variable ATTNAUDIT_DATA, else the
        user's cache folder.
    device : "cpu" or "cuda".

    Returns
    -------
    GridStatus
        The state of every cell; those that failed in `failed`.

    Examples
    --------
    >>> spec = {"dataset": "keyword", "encoders": ["average", "cnn"], "seeds": [0, 1]}
    >>> print(grid(spec, dry_run=True).sentence.split(";")[0])
    4 cells: 4 waiting
    """
    place = Path(out).resolve()
    ledger = Ledger(place)
    pool = as_workers(workers)
    cells = expand(read_spec(spec))
    listed = CellList(tuple(cell.listed() for cell in cells), pool.count, 0.0)
    if dry_run:
        return status_of(listed, ledger)
    check_device(device)
    check_writable(place)
    ledger.write_list(listed.cells, pool.count)
    folder = data_dir or os.environ.get("ATTNAUDIT_DATA")  # a cluster has not our environment
    where = Where(None if folder is None else Path(folder).resolve(), device)
    session = Session(cells, listed, ledger, where, retry_failed=retry_failed)
    failed = session.status().failed
    if failed and not retry_failed:
        notice(f"cells that failed before are not run again without --retry-failed: {len(failed)}")
    try:
        with display(session.status, show=show_progress) as show:
            session.run(pool, show)
    except Interrupted as stop:
        raise GridInterrupted(stop.exit_code - 128, session.status(), Path(out)) from None
    return session.status()
