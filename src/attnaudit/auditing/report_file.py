"""The HTML report in a folder of results that are stored already."""

from __future__ import annotations

from pathlib import Path

from attnaudit.core.errors import OutputError
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
            f"Make room, then: attnaudit report {folder} --out {path}",
        )
        failure.results = results
        raise failure from error
