"""Every table of some runs, as files: one folder a run, and what is told of all runs together beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from attnaudit.core.errors import NotApplicable
from attnaudit.core.output_files import check_writable, write_file
from attnaudit.report.run_sources import Sources
from attnaudit.report.tables import OF_RUN, OF_RUNS, RELEASED, TABLES
from attnaudit.report.tables.formats import FORMATS, csv_text
from attnaudit.report.tables.jain_wallace_released import released_tables
from attnaudit.report.tables.table import PaperTable
from attnaudit.report.write_summary import Outcome


def write_tables(
    sources: Sources,
    out: Path,
    *,
    formats: Sequence[str] = tuple(FORMATS),
    only: Sequence[str] = TABLES,
) -> Outcome:
    """OUT/run/table.format, OUT/table.format. A table whose audit was not run is left out, with the reason."""
    check_writable(out)
    outcome = Outcome()
    for run in sources.runs:
        for name in only:
            if name in OF_RUN:
                _try(
                    outcome,
                    name,
                    run.title,
                    partial(OF_RUN[name], run),
                    out / run.title,
                    formats,
                )
    for name in only:
        if name in OF_RUNS:
            _try(outcome, name, "", partial(OF_RUNS[name], sources.runs), out, formats)
    if RELEASED in only:
        _released(outcome, sources, out / RELEASED, formats)
    return outcome


def _try(
    outcome: Outcome,
    name: str,
    source: str,
    make: Callable[[], PaperTable],
    folder: Path,
    formats: Sequence[str],
) -> None:
    try:
        table = make()
    except NotApplicable as reason:
        outcome.skip(name, source, reason)
        return
    for each in formats:
        ending, form = FORMATS[each]
        outcome.written.append(write_file(folder / f"{name}.{ending}", form(table), kind="table"))


def _released(outcome: Outcome, sources: Sources, folder: Path, formats: Sequence[str]) -> None:
    if "csv" not in formats:
        outcome.skip(RELEASED, "", "these are csv files; add csv to --format")
        return
    try:
        tables = released_tables(sources.runs)
    except NotApplicable as reason:
        outcome.skip(RELEASED, "", reason)
        return
    outcome.written += [
        write_file(folder / f"{name}.csv", csv_text(table, index=True), kind="table")
        for name, table in tables.items()
    ]
