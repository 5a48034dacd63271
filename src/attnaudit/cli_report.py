"""The commands that make figures and tables for papers of finished runs. matplotlib and pandas are imported only when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Runs = Annotated[
    list[Path], typer.Argument(help="Run directories, findings of interventions, or folders that hold some.")
]


def register(app: typer.Typer) -> None:
    """Put both commands on the main app, after those that are there."""
    app.command()(figures)
    app.command()(tables)


def figures(
    runs: Runs,
    out: Annotated[Path, typer.Option(help="Folder for the figures; one folder a run within.")] = Path("figures"),
    formats: Annotated[str, typer.Option("--format", help="Comma-separated: pdf, svg, png.")] = "pdf",
    only: Annotated[str | None, typer.Option(help="Comma-separated names: tau_histograms, flip_boxes, …; all by default.")] = None,
) -> None:  # fmt: skip
    """Figures for papers, one column wide, of finished runs; those whose audit was not run are left out and named.

    Nothing is computed anew, and the same runs give the same files, byte for byte.
    """
    from attnaudit.report.figure_files import write_figures
    from attnaudit.report.figures import FIGURES, style
    from attnaudit.report.outcome import chosen
    from attnaudit.report.sources import gather

    wanted, kinds = chosen(only, FIGURES, "figure"), chosen(formats, style.FORMATS, "format")
    typer.echo(str(write_figures(gather(runs), out, formats=kinds, only=wanted)))


def tables(
    runs: Runs,
    out: Annotated[Path, typer.Option(help="Folder for the tables; one folder a run within.")] = Path("tables"),
    formats: Annotated[str, typer.Option("--format", help="Comma-separated: csv (every digit), md, latex (booktabs).")] = "csv,md,latex",
    only: Annotated[str | None, typer.Option(help="Comma-separated names: summary, runs, jain_wallace_table2, …; all by default.")] = None,
) -> None:  # fmt: skip
    """Tables for papers of finished runs: every mean with interval, floor and ceiling; the card's numbers run beside run; Jain & Wallace's layouts."""
    from attnaudit.report.outcome import chosen
    from attnaudit.report.sources import gather
    from attnaudit.report.table_files import write_tables
    from attnaudit.report.tables import TABLES
    from attnaudit.report.tables.formats import FORMATS

    wanted, kinds = chosen(only, TABLES, "table"), chosen(formats, tuple(FORMATS), "format")
    typer.echo(str(write_tables(gather(runs), out, formats=kinds, only=wanted)))
