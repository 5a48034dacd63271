"""What `attnaudit run` prints: a card or findings, next to published numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from attnaudit.cli.what_was_read import what_was_read

if TYPE_CHECKING:
    from attnaudit.results.results import Results


def intervene_and_print(intervention: str, dataset: str, **choices: Any) -> None:
    """Train the models of an intervention, and print the findings."""
    from attnaudit.core.output_files import recovery_advice
    from attnaudit.papers import next_to_run
    from attnaudit.report.figures import save_figure
    from attnaudit.results.store import read_run
    from attnaudit.training import intervene

    findings, folder = intervene(intervention, dataset, **choices)
    typer.echo(str(findings))
    published = None
    if findings.name == "adversarial":
        published = next_to_run.twin(read_run(findings.runs[0])["choices"])
    if published is not None:
        typer.echo(published)
    with recovery_advice(f"The findings in {folder} are complete; only the figure is missing."):
        figure = save_figure(
            findings.name, findings.summary, findings.detail, folder / "figure.png"
        )
    typer.echo(f"\nFindings: {folder}" + (f"\nFigure: {figure}" if figure else ""))


def print_results(results: Results) -> None:
    """Accuracy and card, next to what the papers published for the same dataset and model."""
    from attnaudit.papers import next_to_run
    from attnaudit.report.tables.table import with_interval

    details = results.about["run"]
    if (line := what_was_read(details["data"])) is not None:
        typer.echo(line)
    accuracy = details["performance"]["accuracy"]
    ends = details["performance"]["accuracy_interval"] or (None, None)
    typer.echo(f"Test accuracy {with_interval(accuracy, *ends)}\n")
    typer.echo(str(results.card()))
    line = next_to_run.accuracy(details["choices"], accuracy)
    if line is not None:
        typer.echo(f"\n{line}")
    published = next_to_run.taus(results)
    if len(published):
        typer.echo(
            "\nMean tau with attention, next to Jain & Wallace 2019, table 2 (two versions of it "
            "were published):"
        )
        typer.echo(published.to_string(index=False))
