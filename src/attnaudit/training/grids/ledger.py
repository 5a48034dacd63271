"""What happened to the cells of a grid, in files next to the runs, readable from any process.

`OUT/grid/` holds one list of cells per grid, and one JSON file per cell that ended, with a log if
it failed. Whether a run is complete, or being worked on, is not stored here but seen from the run.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.core.folder_marks import mark_of
from attnaudit.core.output_files import whole_file
from attnaudit.results import store
from attnaudit.results.checksums import write_json

FOLDER = "grid"
_LIST = "list-*.json"


@dataclass(frozen=True)
class ListedCell:
    """A cell as it is listed: what `Cell` says, without the experiment.

    choices : of the experiment, as run.json stores them.
    """

    name: str
    label: str
    choices: dict[str, Any]
    intervention: str | None = None
    base: str | None = None


@dataclass(frozen=True)
class CellList:
    """The cells of one grid, how many workers it has, and when it was last started."""

    cells: tuple[ListedCell, ...]
    workers: int
    started: float


@dataclass(frozen=True)
class CellRecord:
    """How a cell ended.

    Attributes
    ----------
    state : "done", "failed" or "not run".
    folder : name of the folder with the results, if done.
    seconds : that the worker took; None if nobody knows.
    error : the message, if it failed or was not run.
    """

    state: str
    folder: str | None = None
    seconds: float | None = None
    attempts: int = 1
    error: str | None = None


class Ledger:
    """The files of a grid's folder.

    Examples
    --------
    >>> import tempfile
    >>> ledger = Ledger(Path(tempfile.mkdtemp()))
    >>> ledger.record("a-run", CellRecord("failed", error="out of memory"))
    >>> ledger.read("a-run").error
    'out of memory'
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        self.folder = out / FOLDER

    def write_list(self, cells: Sequence[ListedCell], workers: int) -> None:
        """Store the cells of a grid that begins now; the same cells replace their former list."""
        self.folder.mkdir(parents=True, exist_ok=True)
        names = "\n".join(sorted(cell.name for cell in cells))
        digest = hashlib.blake2b(names.encode(), digest_size=4).hexdigest()
        content = CellList(tuple(cells), workers, time.time())
        write_json(self.folder / f"list-{digest}.json", asdict(content))

    def lists(self) -> list[CellList]:
        """Every grid of this folder, the last started first."""
        lists = []
        for path in self.folder.glob(_LIST):
            try:
                content = json.loads(path.read_text(encoding="utf-8"))
                cells = tuple(ListedCell(**cell) for cell in content["cells"])
                lists.append(CellList(cells, int(content["workers"]), float(content["started"])))
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise InputError(
                    f"{path} cannot be read ({str(error)[:200]}). Run the grid again: finished "
                    "cells are kept."
                ) from error
        return sorted(lists, key=lambda listed: -listed.started)

    def record(self, name: str, record: CellRecord, log: str | None = None) -> None:
        """Store how a cell ended, and the log if there is one."""
        folder = self.folder / "cells"
        folder.mkdir(parents=True, exist_ok=True)
        if log is not None:
            with whole_file(self.log(name)) as draft:
                draft.write_text(log, encoding="utf-8")
        else:
            self.log(name).unlink(missing_ok=True)
        write_json(folder / f"{name}.json", asdict(record))

    def read(self, name: str) -> CellRecord | None:
        """How a cell ended; None if it has not, or if the file cannot be read."""
        try:
            text = (self.folder / "cells" / f"{name}.json").read_text(encoding="utf-8")
            return CellRecord(**json.loads(text))
        except (OSError, ValueError, TypeError):
            return None

    def log(self, name: str) -> Path:
        """The file with the traceback of a failed cell."""
        return self.folder / "cells" / f"{name}.log"

    def result(self, name: str, record: CellRecord | None = None) -> Path | None:
        """The folder with the finished results of a cell, or None.

        It may have another name than the cell, if the data has changed since.
        """
        record = record or self.read(name)
        names = [record.folder] if record is not None and record.folder else []
        for key_name in (*names, name):
            folder = self.out / key_name
            if store.is_complete(folder) or is_finding(folder):
                return folder
        return None


def is_finding(folder: Path) -> bool:
    """Whether the findings of an intervention are complete in this folder."""
    return (folder / "intervention.json").is_file() and mark_of(folder) is not None
