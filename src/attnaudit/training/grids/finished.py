"""Which cells are finished already, on the data as it is now."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from attnaudit.core.errors import InputError
from attnaudit.results import store
from attnaudit.results.checksums import read_mark
from attnaudit.training.grids.cells import Cell
from attnaudit.training.grids.ledger import Ledger
from attnaudit.training.run_place import find_place, read_data


def finished_folders(
    cells: Sequence[Cell], ledger: Ledger, data_dir: Path | None
) -> dict[str, Path]:
    """The folder of each finished cell, by name; made by a grid or by `attnaudit run`.

    Parameters
    ----------
    cells : a base before its interventions.
    """
    read = lru_cache(maxsize=1)(read_data)
    folders: dict[str, Path] = {}
    for cell in sorted(cells, key=lambda cell: (cell.base is not None, cell.experiment.dataset)):
        if cell.base is None:
            place = find_place(cell.experiment, ledger.out, data_dir=data_dir, read=read)
            if place.done:
                folders[cell.name] = place.folder
        elif cell.base in folders:
            folder = ledger.result(cell.name)
            if folder is not None and _is_of_same_data(folder, folders[cell.base]):
                folders[cell.name] = folder
    return folders


def _is_of_same_data(findings: Path, base: Path) -> bool:
    """Whether an intervention compared runs on the data, and the vectors, of its base."""
    try:
        compared = read_mark(findings / "intervention.json")["runs"]
        used = store.read_run(findings.parent / compared[0])["data"]
        now = store.read_run(base)["data"]
    except (InputError, KeyError, IndexError):
        return False
    return all(used.get(key) == now.get(key) for key in ("fingerprint", "vectors"))
