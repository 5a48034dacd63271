"""The commands over finished runs, and the one that makes a paper's table of them. torch is imported only by those that compute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attnaudit.cli.choices import gate as gate_on


def register(app: typer.Typer) -> None:
    app.command()(verify)
    app.command()(gate)
    app.command()(compare)
    app.command()(across)
    app.command("corpus-audit")(corpus_audit)
    app.command()(reproduce)


def gate(
    run: Annotated[Path, typer.Argument(help="A run directory.")],
    fail_if: Annotated[str, typer.Option(help='Conditions, separated by semicolons: "matters=no; points!=yes; agreement/tau@leave_one_out<0.2".')] = "matters=no; points=no; only_story=no",
) -> None:  # fmt: skip
    """A release gate: exit with code 3 if any condition holds for a finished run.

    A condition is about an answer on the card (needed, matters, points, only_story or stable; = or !=; yes, partly, no or "cannot tell")
    or about a mean (AUDIT/METRIC or AUDIT/METRIC@MEASURE; <, <=, >, >=, = or !=; a number).
    """
    from attnaudit.results.store import load_results

    gate_on(load_results(run), fail_if)


def verify(
    folders: Annotated[list[Path], typer.Argument(help="Run directories, findings, or folders that hold some.")],
) -> None:  # fmt: skip
    """Is every stored file, byte for byte, what was written? Exit code 1 if any is damaged or missing."""
    from attnaudit.results.checksums import find_results, verify_folder

    damaged = False
    for folder in find_results(folders):
        problem = verify_folder(folder)
        damaged = damaged or problem.startswith("damaged")
        typer.echo(f"{folder}: {problem}")
    raise typer.Exit(1 if damaged else 0)


def compare(
    first: Annotated[Path, typer.Argument(help="A run directory.")],
    second: Annotated[Path, typer.Argument(help="Another run directory.")],
    every: Annotated[bool, typer.Option("--all", help="Show every number that both runs have, not only those on the card.")] = False,
) -> None:  # fmt: skip
    """Compare two runs: their cards, and the numbers behind them with differences (first − second) and 95 % intervals."""
    from attnaudit.results.store import load_results
    from attnaudit.training.comparisons.runs import side_by_side

    typer.echo(f"first:  {first}\nsecond: {second}\n")
    typer.echo(side_by_side(load_results(first), load_results(second), every=every))


def across(
    runs: Annotated[list[Path], typer.Argument(help="Run directories, or folders that hold some.")],
    question: Annotated[str, typer.Option(help="dependence: accuracy lost without attention against room for other attention. uniformity: spread of attention against its information. seeds: every number over runs that differ only by seed.")] = "dependence",
) -> None:  # fmt: skip
    """Correlate two numbers across runs, one point per model; or, with --question seeds, summarise every model over its seeds."""
    from attnaudit.core import registry
    from attnaudit.results.store import find_runs
    from attnaudit.training.comparisons.correlations import QUESTIONS
    from attnaudit.training.comparisons.seeds import seeds_table

    ask = registry.find({**QUESTIONS, "seeds": seeds_table}, question, "question")
    typer.echo(str(ask(find_runs(runs))))


def corpus_audit(
    run: Annotated[Path, typer.Argument(help="A run directory with its model.")],
    audit: Annotated[str, typer.Option(help="Corpus audit, with options: mutual_information:rule=2,clusters=50.")] = "mutual_information",
    seed: Annotated[int, typer.Option(help="Random seed of the clustering and of all draws.")] = 0,
    data_dir: Annotated[Path | None, typer.Option(help="Folder of the corpora; default: the environment variable ATTNAUDIT_DATA, else the user's cache folder.")] = None,
) -> None:  # fmt: skip
    """Audit a finished run on all test examples together (mutual information); the findings are stored in the run's folder."""
    from attnaudit.audits.corpus import CORPUS_AUDITS
    from attnaudit.core import registry
    from attnaudit.results.findings import Findings
    from attnaudit.results.store import file_name
    from attnaudit.training.checkpoint import audited_batches

    function = registry.find(CORPUS_AUDITS, audit, "corpus audit")
    model, batches = audited_batches(run, data_dir=data_dir)
    findings = Findings.of_corpus_audit(function(model, batches, seed))
    folder = findings.save(run / file_name(f"{audit}-seed_{seed}"))
    typer.echo(f"{findings}\n\nFindings: {folder}")


def reproduce(
    table: Annotated[str, typer.Argument(help="Table or figure: meister_table1, meister_table6, meister_figure2, neely_schouten_table2, wen_weighted_tau.")],
    dataset: Annotated[str, typer.Option(help="Dataset, with options: sst, imdb.")] = "sst",
    vectors: Annotated[Path | None, typer.Option(help="Pretrained word vectors; the papers use 300 dimensions.")] = None,
    seed: Annotated[int, typer.Option(help="Random seed of the models.")] = 0,
    sample: Annotated[int | None, typer.Option(min=1, help="Audit this many test examples; default: all.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Number of passes over the training data; default: the paper's.")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Folder of the corpora; default: the environment variable ATTNAUDIT_DATA, else the user's cache folder.")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    out: Annotated[Path, typer.Option(help="Folder of the run directories; finished runs are used again.")] = Path("runs"),
) -> None:  # fmt: skip
    """Reproduce a paper's table: train and audit its models, and show the results next to the published numbers."""
    from attnaudit.papers.reproductions import Setting
    from attnaudit.papers.reproductions import reproduce as reproduced

    chosen = None if vectors is None else str(vectors)
    made, path = reproduced(
        table, Setting(dataset, out, data_dir, chosen, seed, sample, epochs, device)
    )
    typer.echo(made.to_string(index=False, float_format="{:.3f}".format))
    typer.echo(f"\nTable: {path}")
