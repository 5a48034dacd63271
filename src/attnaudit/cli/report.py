"""The commands that show finished runs: a page, figures and tables for papers; and the lesson. What they need is imported when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Runs = Annotated[
    list[Path],
    typer.Argument(help="Run directories, findings of interventions, or folders that hold some."),
]


def register(app: typer.Typer) -> None:
    app.command()(report)
    app.command()(figures)
    app.command()(tables)
    app.command()(lesson)


def report(
    runs: Annotated[list[Path], typer.Argument(help="Run directories, or folders that hold some.")],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
    site: Annotated[Path | None, typer.Option(help="Write a static site into this folder instead: every stored example, on linked pages.")] = None,
) -> None:  # fmt: skip
    """Write one HTML page about one or several finished runs: cards, charts, examples and a playground. It needs no network."""
    from attnaudit.core.output_files import check_file
    from attnaudit.report.page import write_page
    from attnaudit.report.site import check_site, write_site
    from attnaudit.results.store import find_runs, load_readable

    check_file(out) if site is None else check_site(site)
    found = load_readable(find_runs(runs))
    # Runs with the usual audits come first; those that an intervention trained to compare with have fewer, and come after them.
    found.sort(key=lambda run: run[1].about["run"].get("choices", {}).get("audits") is not None)
    folders, results = [folder for folder, _ in found], [each for _, each in found]
    page = (
        write_page(results, out, folders=folders)
        if site is None
        else write_site(results, site, folders=folders)
    )
    typer.echo(f"{len(found)} run{'s' if len(found) > 1 else ''}\nReport: {page}")


def figures(
    runs: Runs,
    out: Annotated[Path, typer.Option(help="Folder for the figures, with one folder per run in it.")] = Path("figures"),
    formats: Annotated[str, typer.Option("--format", help="Comma-separated: pdf, svg, png.")] = "pdf",
    only: Annotated[str | None, typer.Option(help="Comma-separated names: tau_histograms, flip_boxes, …; default: all.")] = None,
) -> None:  # fmt: skip
    """Draw figures of finished runs for papers, one column wide. Figures whose audit was not run are left out and listed.

    Nothing is computed again, and the same runs give exactly the same files.
    """
    from attnaudit.report.figures import FIGURES, style
    from attnaudit.report.paper_files import write_figures
    from attnaudit.report.run_sources import gather
    from attnaudit.report.write_summary import select_names

    wanted, kinds = (
        select_names(only, FIGURES, "figure"),
        select_names(formats, style.FORMATS, "format"),
    )
    typer.echo(str(write_figures(gather(runs), out, formats=kinds, only=wanted)))


def tables(
    runs: Runs,
    out: Annotated[Path, typer.Option(help="Folder for the tables, with one folder per run in it.")] = Path("tables"),
    formats: Annotated[str, typer.Option("--format", help="Comma-separated: csv (every digit), md, latex (booktabs).")] = "csv,md,latex",
    only: Annotated[str | None, typer.Option(help="Comma-separated names: summary, runs, jain_wallace_table2, …; default: all.")] = None,
) -> None:  # fmt: skip
    """Write tables of finished runs for papers: every mean with interval, floor and ceiling; the card's numbers of all runs; Jain & Wallace's layouts."""
    from attnaudit.report.paper_files import write_tables
    from attnaudit.report.run_sources import gather
    from attnaudit.report.tables import TABLES
    from attnaudit.report.tables.formats import FORMATS
    from attnaudit.report.write_summary import select_names

    wanted, kinds = (
        select_names(only, TABLES, "table"),
        select_names(formats, tuple(FORMATS), "format"),
    )
    typer.echo(str(write_tables(gather(runs), out, formats=kinds, only=wanted)))


def lesson(
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("lesson.html"),
) -> None:
    """Write a lesson as an HTML page: the arguments of the debate to try by hand, with teacher's notes. Needs no run and no data."""
    from attnaudit.papers.lesson import make_lesson

    typer.echo(f"Lesson: {make_lesson(out)}")
