"""Write the figures and tables of runs as files.

One folder per run; figures and tables of all runs together go into the folder above.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from attnaudit.core.errors import NotApplicable
from attnaudit.core.output_files import check_writable, recovery_advice, write_file
from attnaudit.report import figures, tables
from attnaudit.report.figures import style
from attnaudit.report.run_sources import Findings, Run, Sources
from attnaudit.report.tables.formats import FORMATS, csv_text
from attnaudit.report.tables.jain_wallace_released import released_tables
from attnaudit.report.tables.table import PaperTable
from attnaudit.report.write_summary import WriteSummary


class _Job(NamedTuple):
    """One figure or table to make. source: the run or findings it is made from, "" for all."""

    name: str
    source: str
    folder: Path
    make: Callable[[], Any]


def write_figures(
    sources: Sources,
    out: Path,
    *,
    formats: Sequence[str] = style.FORMATS,
    only: Sequence[str] = figures.FIGURES,
) -> WriteSummary:
    """Write OUT/run/figure.format and OUT/figure.format.

    Parameters
    ----------
    sources
        The runs and findings, from `run_sources.gather`.
    out
        The folder to write to.
    formats
        Of "pdf", "svg" and "png".
    only
        Names of figures.

    Returns
    -------
    WriteSummary
        The files, and the figures that were left out because their audit was not run.
    """

    def save(figure: Any, path: Path) -> list[Path]:
        return style.save(figure, path, formats)

    with style.paper():
        jobs = [
            *_jobs(sources.runs, out, only, figures.OF_RUN, figures.OF_RUNS),
            *_finding_jobs(sources.findings, out, only),
        ]
        return _write(jobs, save, out)


def write_tables(
    sources: Sources,
    out: Path,
    *,
    formats: Sequence[str] = tuple(FORMATS),
    only: Sequence[str] = tables.TABLES,
) -> WriteSummary:
    """Write OUT/run/table.format and OUT/table.format.

    Parameters
    ----------
    sources
        The runs, from `run_sources.gather`.
    out
        The folder to write to.
    formats
        Of "csv", "md" and "latex".
    only
        Names of tables.

    Returns
    -------
    WriteSummary
        The files, and the tables that were left out because their audit was not run.
    """

    def save(table: PaperTable, path: Path) -> list[Path]:
        return [
            write_file(path.with_name(f"{path.name}.{ending}"), to_text(table), kind="table")
            for ending, to_text in (FORMATS[name] for name in formats)
        ]

    summary = _write(_jobs(sources.runs, out, only, tables.OF_RUN, tables.OF_RUNS), save, out)
    if tables.RELEASED in only:
        make = partial(_released, sources.runs, formats)
        job = _Job(tables.RELEASED, "", out, make)
        summary.add(_write([job], _save_released, out))
    return summary


def _jobs(
    runs: Sequence[Run],
    out: Path,
    only: Sequence[str],
    of_run: Mapping[str, Callable[[Run], Any]],
    of_runs: Mapping[str, Callable[[Sequence[Run]], Any]],
) -> Iterator[_Job]:
    for run in runs:
        for name in only:
            if name in of_run:
                yield _Job(name, run.title, out / run.title, partial(of_run[name], run))
    for name in only:
        if name in of_runs:
            yield _Job(name, "", out, partial(of_runs[name], runs))


def _finding_jobs(findings: Sequence[Findings], out: Path, only: Sequence[str]) -> Iterator[_Job]:
    for name in only:
        if name not in figures.OF_FINDINGS:
            continue
        intervention, draw = figures.OF_FINDINGS[name]
        matching = [finding for finding in findings if finding.name == intervention]
        for finding in matching:
            yield _Job(name, finding.title, out / finding.title, partial(draw, finding))
        if not matching:
            yield _Job(name, "", out, partial(_no_findings, intervention))


def _no_findings(intervention: str) -> None:
    raise NotApplicable(
        f"no findings of `attnaudit run --intervention {intervention}` among the folders given"
    )


def _released(runs: Sequence[Run], formats: Sequence[str]) -> dict[str, pd.DataFrame]:
    if "csv" not in formats:
        raise NotApplicable("these are csv files; add csv to --format")
    return released_tables(runs)


def _save_released(released: dict[str, pd.DataFrame], folder: Path) -> list[Path]:
    return [
        write_file(folder / f"{name}.csv", csv_text(table, index=True), kind="table")
        for name, table in released.items()
    ]


def _write(
    jobs: Iterable[_Job], save: Callable[[Any, Path], list[Path]], out: Path
) -> WriteSummary:
    """Make and save each; what does not apply is left out, with the reason."""
    check_writable(out)
    summary = WriteSummary()
    for job in jobs:
        try:
            product = job.make()
        except NotApplicable as reason:
            summary.skip(job.name, job.source, reason)
        else:
            with recovery_advice("Files that were written before it are complete."):
                summary.written += save(product, job.folder / job.name)
    return summary
