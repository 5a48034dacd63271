"""Parts of a job that was killed after its results were complete, before they were removed."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from attnaudit.auditing.jobs.job import check_ours, finish
from attnaudit.auditing.jobs.job_store import JobStore
from attnaudit.auditing.jobs.run_job import parts_folder
from attnaudit.core import temporary
from attnaudit.core.errors import InputError
from attnaudit.core.folder_marks import MARKS


def remove_leftovers(results: Path) -> None:
    """Remove the parts next to complete results, unless they are of later or other work.

    Parts that are newer than the results are of a `--force` that was interrupted, and goes on.

    Parameters
    ----------
    results : folder of results, which need not be there.
    """
    if not results.name:  # the root, next to which there is nothing
        return
    parts = parts_folder(results)
    if not parts.is_dir():
        return
    with suppress(OSError, InputError):  # files of others; or it cannot be written: no harm done
        completed = max(
            (path.stat().st_mtime_ns for name in MARKS if (path := results / name).is_file()),
            default=0,
        )
        with temporary.held_at_once(parts) as is_ours:
            newest = max((path.stat().st_mtime_ns for path in _files(parts)), default=0)
            if is_ours and newest < completed:
                store = JobStore(parts)
                check_ours(store)
                finish(store)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
