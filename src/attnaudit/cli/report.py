"""Commands that show finished runs: a page, figures and tables for papers; and the lesson."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Runs = Annotated[
    list[Path],
    typer.Argument(help="Run directories, findings of interventions, or folders that hold some."),
]


def register(app: typer.Typer) -> None:
    """Add the commands to the app."""
    app.command()(report)
    app.command()(heatmaps)
    app.command()(figures)
    app.command()(tables)
    app.command()(lesson)


def report(
    runs: Annotated[list[Path], typer.Argument(help="Run directories, or folders that hold some.")],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
    site: Annotated[
        Path | None,
        typer.Option(
            help="Write a static site into this folder instead: every stored example, on linked "
            "pages."
        ),
    ] = None,
) -> None:
    """Write one HTML page about one or several finished runs.

    Cards, charts, examples and a playground; the page needs no network.

    Example: `attnaudit report runs --out report.html`
    """
    from attnaudit.report.run_reports import report

    written = report(runs, out, site=site)
    typer.echo(f"{written.runs} run{'s' if written.runs > 1 else ''}\nReport: {written.path}")


def heatmaps(
    run: Annotated[Path, typer.Argument(help="A folder of results.")],
    explanation: Annotated[
        str, typer.Option(help="Measure whose heatmaps are written, such as leave_one_out.")
    ] = "attention",
    example: Annotated[
        list[str] | None,
        typer.Option(help="Id of a text, as in the report; may be repeated. Default: all kept."),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            help="File to write: .html (snippets to paste), .jsonl (scores), .svg or .png (one "
            "text)."
        ),
    ] = Path("heatmaps.html"),
) -> None:
    """Write the heatmaps of one explanation, to paste into another page.

    Example: `attnaudit heatmaps audit --explanation leave_one_out --out heatmaps.html`
    """
    from attnaudit.results.store import load_results

    results = load_results(run)
    typer.echo(f"Heatmaps: {results.to_heatmaps(out, explanation=explanation, examples=example)}")


def figures(
    runs: Runs,
    out: Annotated[
        Path, typer.Option(help="Folder for the figures, with one folder per run in it.")
    ] = Path("figures"),
    formats: Annotated[
        str, typer.Option("--format", help="Comma-separated: pdf, svg, png.")
    ] = "pdf",
    only: Annotated[
        str | None,
        typer.Option(help="Comma-separated names: tau_histograms, flip_boxes, …; default: all."),
    ] = None,
) -> None:
    """Draw figures of finished runs for papers, one column wide.

    Figures whose audit was not run are left out and listed. Nothing is computed again, and the
    same runs give exactly the same files.

    Example: `attnaudit figures runs --format pdf,png --only tau_histograms`
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
    out: Annotated[
        Path, typer.Option(help="Folder for the tables, with one folder per run in it.")
    ] = Path("tables"),
    formats: Annotated[
        str,
        typer.Option("--format", help="Comma-separated: csv (every digit), md, latex (booktabs)."),
    ] = "csv,md,latex",
    only: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated names: summary, runs, jain_wallace_table2, …; default: all."
        ),
    ] = None,
) -> None:
    """Write tables of finished runs for papers.

    Every mean with interval, floor and ceiling; the card's numbers of all runs; the layouts of
    Jain & Wallace.

    Example: `attnaudit tables runs --format latex --only summary`
    """
    from attnaudit.report.paper_files import write_tables
    from attnaudit.report.run_sources import gather
    from attnaudit.report.tables import READ_VALUES, TABLES
    from attnaudit.report.tables.formats import FORMATS
    from attnaudit.report.write_summary import select_names

    wanted, kinds = (
        select_names(only, TABLES, "table"),
        select_names(formats, tuple(FORMATS), "format"),
    )
    parts = ("summaries", "columns") if set(wanted) & set(READ_VALUES) else ("summaries",)
    typer.echo(str(write_tables(gather(runs, parts=parts), out, formats=kinds, only=wanted)))


def lesson(
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("lesson.html"),
) -> None:
    """Write a lesson as an HTML page: try the arguments of the debate by hand.

    With teacher's notes; needs no run and no data.

    Example: `attnaudit lesson --out lesson.html`
    """
    from attnaudit.papers import make_lesson

    typer.echo(f"Lesson: {make_lesson(out)}")
