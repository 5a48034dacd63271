"""Several stored runs: which of them can be read, and one after another without keeping any."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from attnaudit.core.errors import InputError
from attnaudit.core.notices import notice
from attnaudit.results.checksums import check_files
from attnaudit.results.results import Results
from attnaudit.results.store import TABLES, open_results, read_run

T = TypeVar("T")


def readable(folders: Iterable[Path], check: Callable[[Path], T]) -> list[tuple[Path, T]]:
    """The runs that can be read, in order, with what `check` returns; a notice names the others.

    Parameters
    ----------
    folders : of runs.
    check : reads as much of a run as is needed; an InputError leaves the run out.

    Raises
    ------
    InputError
        If none can be read.
    """
    checked: list[tuple[Path, T]] = []
    errors: list[str] = []
    for folder in folders:
        try:
            checked.append((folder, check(folder)))
        except InputError as error:
            errors.append(str(error))
    if errors and not checked:
        raise InputError("\n".join(errors))
    for reason in errors:
        notice(f"left out: {reason}")
    return checked


def check_run(folder: Path) -> dict[str, Any]:
    """run.json of a complete run whose tables are, by their checksums, as they were written."""
    details = read_run(folder)
    check_files(folder, details, (f"{name}.parquet" for name in TABLES))
    return details


class StoredRuns(Sequence[Results]):
    """The results of several runs, each opened when it is asked for; none is kept."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders

    def __len__(self) -> int:
        return len(self._folders)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return StoredRuns(self._folders[index])
        return open_results(self._folders[index])
