"""Commands over finished runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attnaudit.cli.exit_codes import ExitCode
from attnaudit.cli.options import DataDir, Junit, Quiet, Summary, Verbose, deprecated

if TYPE_CHECKING:
    from attnaudit.results.results import Results

Runs = Annotated[list[Path], typer.Argument(help="Run directories, or folders that hold some.")]
Question = Annotated[
    str,
    typer.Option(
        help="dependence: accuracy lost without attention against room for other attention. "
        "uniformity: entropy of attention against its information. seeds: every number over "
        "runs that differ only by seed."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands to the app."""
    app.command()(verify)
    app.command()(gate)
    app.command()(compare)
    app.command()(correlate)
    app.command(hidden=True)(across)
    app.command("corpus-audit")(corpus_audit)


def gate(
    run: Annotated[Path, typer.Argument(help="A run directory.")],
    fail_if: Annotated[
        str,
        typer.Option(
            help='Conditions, separated by semicolons: "matters=no; points!=yes; '
            'agreement/tau@leave_one_out<0.2".'
        ),
    ] = "verdict=no",
    junit: Junit = None,
    summary: Summary = None,
) -> None:
    """A release gate: exit with code 3 if any condition holds for a finished run.

    A condition is about an answer on the card (verdict, needed, matters, points, only_story,
    stable or plausible; of citations uses_sources, cites_used, cites_words or follows_source;
    = or !=; yes, partly, no or "cannot tell") or about a mean: AUDIT/METRIC or
    AUDIT/METRIC@MEASURE, one of `= != < <= > >=`, and a number.

    Example: `attnaudit gate runs/my-run --fail-if "matters=no"`
    """
    print_gate(run, fail_if, junit, summary)


def print_gate(
    run: Results | Path, fail_if: str, junit: Path | None = None, summary: Path | None = None
) -> None:
    """Print the conditions that hold and exit with code 3, or say that none does."""
    from attnaudit.results.checks import write_gate_reports

    conditions = write_gate_reports(run, fail_if, junit=junit, summary=summary)
    if conditions:
        listed = "\n  ".join(conditions)
        typer.secho(f"The gate is closed. Conditions that hold:\n  {listed}", fg="red", err=True)
        raise typer.Exit(ExitCode.GATE_CLOSED)
    typer.echo("The gate is open: none of the conditions holds.")


def verify(
    folders: Annotated[
        list[Path], typer.Argument(help="Run directories, findings, or folders that hold some.")
    ],
) -> None:
    """Check that every stored file is, byte for byte, what was written.

    Exit code 1 if any file is damaged or missing.

    Example: `attnaudit verify runs`
    """
    from attnaudit.results.checks import verify

    verifications = verify(folders)
    for verification in verifications:
        typer.echo(f"{verification.folder}: {verification.state}")
    damaged = any(verification.damaged for verification in verifications)
    raise typer.Exit(ExitCode.NEGATIVE if damaged else ExitCode.DONE)


def compare(
    first: Annotated[Path, typer.Argument(help="A run directory.")],
    second: Annotated[Path, typer.Argument(help="Another run directory.")],
    every: Annotated[
        bool,
        typer.Option(
            "--all", help="Show every number that both runs have, not only those on the card."
        ),
    ] = False,
) -> None:
    """Compare two runs: their cards, and the numbers behind them with differences.

    Differences are first − second, with 95 % intervals.

    Example: `attnaudit compare runs/softmax runs/sparsemax --all`
    """
    from attnaudit.training import compare

    comparison = compare(first, second)
    typer.echo(f"first:  {first}\nsecond: {second}\n")
    typer.echo(comparison.text(every=every))


def correlate(runs: Runs, question: Question = "dependence") -> None:
    """Correlate two metrics across runs, one point per model.

    With --question seeds: summarise every model over its seeds.

    Example: `attnaudit correlate runs --question uniformity`
    """
    from attnaudit.training import correlate

    typer.echo(str(correlate(runs, question)))


def across(runs: Runs, question: Question = "dependence") -> None:
    """The old name of correlate."""
    deprecated("attnaudit across", "attnaudit correlate")
    correlate(runs, question)


def corpus_audit(
    run: Annotated[Path, typer.Argument(help="A run directory with its model.")],
    audit: Annotated[
        str,
        typer.Option(help="Corpus audit, with options: mutual_information:rule=2,clusters=50."),
    ] = "mutual_information",
    seed: Annotated[int, typer.Option(help="Random seed of the clustering and of all draws.")] = 0,
    data_dir: DataDir = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Audit a finished run on all test examples together (mutual information).

    The findings are stored in the run's folder.

    Example: `attnaudit corpus-audit runs/my-run`
    """
    from attnaudit.training import corpus_audit

    findings, folder = corpus_audit(run, audit, seed=seed, data_dir=data_dir)
    typer.echo(f"{findings}\n\nFindings: {folder}")
