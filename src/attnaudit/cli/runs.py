"""Commands over finished runs, and the reproduction of a paper's table from runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attnaudit.cli.exit_codes import ExitCode
from attnaudit.cli.options import DataDir, Device, Quiet, Verbose, deprecated

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
    app.command()(reproduce)


def gate(
    run: Annotated[Path, typer.Argument(help="A run directory.")],
    fail_if: Annotated[
        str,
        typer.Option(
            help='Conditions, separated by semicolons: "matters=no; points!=yes; '
            'agreement/tau@leave_one_out<0.2".'
        ),
    ] = "verdict=no",
) -> None:
    """A release gate: exit with code 3 if any condition holds for a finished run.

    A condition is about an answer on the card (verdict, needed, matters, points, only_story,
    stable or plausible; = or !=; yes, partly, no or "cannot tell") or about a mean (AUDIT/METRIC or
    AUDIT/METRIC@MEASURE; <, <=, >, >=, = or !=; a number).

    Example: `attnaudit gate runs/my-run --fail-if "matters=no"`
    """
    print_gate(run, fail_if)


def print_gate(run: Results | Path, fail_if: str) -> None:
    """Print the conditions that hold and exit with code 3, or say that none does."""
    from attnaudit.results.checks import gate

    conditions = gate(run, fail_if)
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


def reproduce(
    table: Annotated[
        str,
        typer.Argument(
            help="Table or figure: meister_table1, meister_table6, meister_figure2, "
            "neely_schouten_table2, wen_weighted_tau."
        ),
    ],
    dataset: Annotated[str, typer.Option(help="Dataset, with options: sst, imdb.")] = "sst",
    vectors: Annotated[
        Path | None,
        typer.Option(help="Pretrained word vectors; the papers use 300 dimensions."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed of the models.")] = 0,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Audit this many test examples; default: all.")
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(help="Number of passes over the training data; default: the paper's."),
    ] = None,
    data_dir: DataDir = None,
    device: Device = "cpu",
    out: Annotated[
        Path, typer.Option(help="Folder of the run directories; finished runs are used again.")
    ] = Path("runs"),
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Reproduce a paper's table, with our numbers next to the published ones.

    Trains and audits the models of the paper.

    Example: `attnaudit reproduce meister_table1 --dataset sst --vectors glove.6B.300d.txt`
    """
    from attnaudit.papers import reproduce

    made = reproduce(
        table,
        dataset,
        out=out,
        vectors=vectors,
        seed=seed,
        sample=sample,
        epochs=epochs,
        data_dir=data_dir,
        device=device,
    )
    typer.echo(made.table.to_string(index=False, float_format="{:.3f}".format))
    typer.echo(f"\nTable: {made.path}")
