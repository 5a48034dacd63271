"""The command line. torch is imported only by commands that compute, so that `--help` answers at once."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attnaudit.cli import data, model, report, runs
from attnaudit.cli.choices import gate as gate_on
from attnaudit.cli.choices import split, write_report
from attnaudit.core import interruption
from attnaudit.core.errors import InputError, NotApplicable, OutputError

if TYPE_CHECKING:
    from attnaudit.results.results import Results
    from attnaudit.training.interventions import InterventionContext

app = typer.Typer(
    help="May I show this model's attention as an explanation? Train a model or load your own, run the tests of the attention-as-explanation debate, and read the answers on one card.",
    epilog="`attnaudit list` shows every name that can be chosen, and COMMAND `--help` the options of a command. The documentation is in the folder docs/ of the project; start with docs/index.md, and with docs/audit_your_model.md for your own model.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(data.app, name="data")


def _version(wanted: bool) -> None:
    if wanted:
        from attnaudit import __version__

        typer.echo(f"attnaudit {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:  # fmt: skip
    """May I show this model's attention as an explanation? Train a model or load your own, run the tests of the attention-as-explanation debate, and read the answers on one card."""


@app.command()
def run(
    dataset: Annotated[str, typer.Option(help="Dataset, with options: babi:task=2, keyword:length=40, sst, or your own file: reviews.csv:label=stars.")] = "babi:task=1",
    preset: Annotated[str | None, typer.Option(help="A paper's settings: jain_wallace, meister:encoder=transformer, wen, neely_schouten, serrano_smith.")] = None,
    model: Annotated[str | None, typer.Option(help="Kind of model: attentive, hierarchical:site=word.")] = None,
    encoder: Annotated[str | None, typer.Option(help="Encoder, which reads the text: bilstm:hidden=128, cnn, mlp, average, transformer, none.")] = None,
    scorer: Annotated[str | None, typer.Option(help="Scorer, which scores each word: additive, dot:scaled=false, bilinear, deep.")] = None,
    projection: Annotated[str | None, typer.Option(help="Projection of scores to weights: softmax, sparsemax, entmax:alpha=1.5, sparsegen:lam=0.5, gumbel_softmax, uniform.")] = None,
    output: Annotated[str | None, typer.Option(help="Output layer: linear_query, linear (without the query, as in the paper), tanh (as in the released code; not linear).")] = None,
    embedding: Annotated[int | None, typer.Option(help="Size of the word vectors (ignored with --vectors, whose file has its own size).")] = None,
    vectors: Annotated[Path | None, typer.Option(help="Pretrained word vectors: GloVe, fastText or word2vec text (.gz, .xz), or .npz.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Maximum number of passes over the training data.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Examples per training step.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Learning rate of the optimiser.")] = None,
    patience: Annotated[int | None, typer.Option(help="Stop after this many epochs without a better dev score.")] = None,
    good_enough: Annotated[float | None, typer.Option(help="Stop once the dev score has reached this value.")] = None,
    intervention: Annotated[str | None, typer.Option(help="Train several models and compare: uniform, random, seeds:count=3, adversarial:lams=0.001+0.01, guided_mlp, fix_representation, fix_attention, deceptive, sparsity.")] = None,
    audits: Annotated[str | None, typer.Option(help="Comma-separated names, or all; default: the usual ones. See `attnaudit list`.")] = None,
    measures: Annotated[str | None, typer.Option(help="Comma-separated names, or all; default: the usual ones.")] = None,
    seed: Annotated[int, typer.Option(help="Random seed. The same seed gives exactly the same numbers.")] = 0,
    sample: Annotated[int | None, typer.Option(min=1, help="Audit this many test examples, with the classes in proportion; default: all.")] = None,
    illustrated: Annotated[int | None, typer.Option(min=0, help="Number of examples to keep with their words, for the report; default: all, up to 200,000 words.")] = None,
    other_seeds: Annotated[int, typer.Option(min=0, help="Train this many more models from other seeds, to see whether the attention is stable.")] = 0,
    fail_if: Annotated[str | None, typer.Option(help='Exit with code 3 if any of these conditions holds: "matters=no; points!=yes; permutation/tvd_median<0.05".')] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Folder of the corpora; default: the environment variable ATTNAUDIT_DATA, else the user's cache folder.")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    out: Annotated[Path, typer.Option(help="Folder that holds the run directories.")] = Path("runs"),
    force: Annotated[bool, typer.Option("--force", help="Run again even if the same run is already complete.")] = False,
) -> None:  # fmt: skip
    """Train one model, audit it on the test set, print the card, write a run directory with a report.

    Without options: simulated bAbI task 1 (needs no files), a BiLSTM with additive attention. Sizes and epochs that are omitted are chosen
    for the dataset. A run that is already complete is not run again. With --intervention: train the models it needs and compare them.
    """
    from attnaudit.results.gate import check_conditions
    from attnaudit.results.store import load_results
    from attnaudit.training.experiment import make_experiment
    from attnaudit.training.interventions import InterventionContext
    from attnaudit.training.runner import find_place, run_experiment

    if fail_if is not None:
        check_conditions(fail_if)  # now, not after minutes of training
    cell = make_experiment(
        dataset,
        preset=preset,
        model=model,
        encoder=encoder,
        scorer=scorer,
        projection=projection,
        output=output,
        embedding=embedding,
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate,
        patience=patience,
        good_enough=good_enough,
        seed=seed,
        sample=sample,
        illustrated=illustrated,
        other_seeds=other_seeds,
        vectors=None if vectors is None else str(vectors),
        audits=None if audits is None else tuple(split(audits)),
        measures=None if measures is None else tuple(split(measures)),
    )
    if intervention is not None and fail_if is not None:
        raise InputError(
            "--fail-if asks the card of one run, and --intervention compares several. Leave one of them out."
        )
    if intervention is not None:
        _intervene(intervention, InterventionContext(cell, out, data_dir, device))
        return
    place = find_place(cell, out, data_dir=data_dir)
    if place.done and not force:
        typer.echo("This run is already complete (--force runs it again).\n")
    try:
        folder = run_experiment(
            cell, out, data_dir=data_dir, device=device, force=force, place=place
        )
    except OutputError as error:
        if error.results is not None:
            typer.echo(str(error.results.card()))  # type: ignore[attr-defined]  # Results
        raise
    results = load_results(folder)
    _show(results)
    typer.echo(f"\nRun: {folder}")
    write_report(results, folder)
    if fail_if is not None:
        gate_on(results, fail_if)


model.register(app)
runs.register(app)
report.register(app)


@app.command("list")
def list_choices() -> None:
    """List every name that can be chosen, by kind, with a description: datasets, models, measures, audits, interventions …"""
    from attnaudit.cli.catalogue import catalogue

    for kind, entries in catalogue().items():
        typer.secho(f"\n{kind}", bold=True)
        for name, text in entries.items():
            typer.echo(f"  {name:26s} {text}")


@app.command()
def check(
    target: Annotated[str, typer.Argument(help="A run directory, glass:oracle|inert|shifted, or package.module:name of a model.")],
    seed: Annotated[int, typer.Option(help="Random seed of the texts and attention weights that are tried.")] = 0,
) -> None:  # fmt: skip
    """Check that a model keeps the laws that audits rely on. Reports which are broken and the likely cause; exit code 1 if any is."""
    from attnaudit.cli.check_target import find_target
    from attnaudit.laws.checks import check_model

    verdict = check_model(*find_target(target, seed), seed=seed)
    typer.echo(str(verdict))
    typer.echo(f"\n{verdict.sentence}")
    raise typer.Exit(0 if verdict.kept else 1)


def _intervene(choice: str, plan: InterventionContext) -> None:
    from attnaudit.core import registry
    from attnaudit.papers import wen
    from attnaudit.report.figures import save_figure
    from attnaudit.results import store
    from attnaudit.training.interventions import INTERVENTIONS

    intervene = registry.find(INTERVENTIONS, choice, "intervention")
    findings = intervene(plan)
    folder = plan.out / store.run_name(
        {
            **plan.cell.choices(),
            "dataset": f"{findings.name}-{plan.cell.dataset}",
            "intervention": choice,
        }
    )
    findings.save(folder)
    typer.echo(str(findings))
    if (
        findings.name == "adversarial"
        and (published := wen.beside_published(plan.cell.dataset)) is not None
    ):
        typer.echo(published)
    figure = save_figure(findings.name, findings.summary, findings.detail, folder / "figure.png")
    typer.echo(f"\nFindings: {folder}" + (f"\nFigure: {figure}" if figure else ""))


def _show(results: Results) -> None:
    from attnaudit.papers import meister
    from attnaudit.papers.jain_wallace import beside_published
    from attnaudit.report.tables.table import with_interval

    details = results.about["run"]
    performance = details["performance"]
    ends = performance["accuracy_interval"] or (None, None)
    typer.echo(f"Test accuracy {with_interval(performance['accuracy'], *ends)}\n")
    typer.echo(str(results.card()))
    if (
        line := meister.beside_published(details["choices"], details["performance"]["accuracy"])
    ) is not None:
        typer.echo(f"\n{line}")
    published = beside_published(results)
    if len(published):
        typer.echo(
            "\nMean tau with attention, next to Jain & Wallace 2019, table 2 (two versions of it were published):"
        )
        typer.echo(published.to_string(index=False))


class _Notices(logging.Handler):
    """What the library has to say besides its results, on the standard error of the moment."""

    def emit(self, record: logging.LogRecord) -> None:
        typer.secho(f"attnaudit: {record.getMessage()}", fg="yellow", err=True)


def main() -> None:
    """Errors that a user can put right are printed in words, without a traceback."""
    interruption.watch()
    logging.getLogger("attnaudit").handlers = [_Notices()]
    try:
        app()
    except (InputError, NotApplicable, OutputError) as error:
        typer.secho(f"attnaudit: {error}", fg="red", err=True)
        raise SystemExit(2) from None
    except interruption.Interrupted as stop:
        typer.secho(f"attnaudit: {stop}", fg="red", err=True)
        raise SystemExit(stop.exit_code) from None
