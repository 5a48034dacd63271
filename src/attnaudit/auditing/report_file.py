"""The HTML report in a folder of results that are stored already."""

from __future__ import annotations

from pathlib import Path

from attnaudit.core.errors import InputError, OutputError
from attnaudit.core.folder_marks import mark_of
from attnaudit.results.results import Results


def write_report(results: Results, folder: Path) -> Path:
    """Write report.html; if it cannot be written, the error says how to write it later."""
    path = folder / "report.html"
    try:
        return results.to_html(path)
    except OutputError as error:
        failure = OutputError(
            error.errno,
            f"{error} The results in {folder} are complete; only the report is missing. "
            f"Make room, then: {_command(folder)}",
        )
        failure.results = results
        raise failure from error


def check_report(folder: Path) -> None:
    """Reject results without a report, left by a process that was killed between the two."""
    if mark_of(folder) is not None and not (folder / "report.html").exists():
        raise InputError(
            f"{folder} holds complete results already; only the report is missing. To write it: "
            f"{_command(folder)}. To audit again: --force (force=True in Python)."
        )


def _command(folder: Path) -> str:
    return f"attnaudit report {folder} --out {folder / 'report.html'}"
