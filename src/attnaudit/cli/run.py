"""`attnaudit run`: train one model and audit it, or train several and compare them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from attnaudit.cli.options import (
    Audits,
    DataDir,
    Device,
    FailIf,
    Measures,
    Quiet,
    Resources,
    Scheduler,
    Threads,
    Verbose,
    WorkerCount,
    renamed,
    split_names,
    workers_from,
)
from attnaudit.cli.run_output import intervene_and_print, print_results
from attnaudit.cli.runs import print_gate
from attnaudit.core.errors import InputError, OutputError


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command()(run)


def run(
    dataset: Annotated[
        str,
        typer.Option(
            help="Dataset, with options: babi:task=2, keyword:length=40, sst, or your own file: "
            "reviews.csv:label=stars."
        ),
    ] = "babi:task=1",
    preset: Annotated[
        str | None,
        typer.Option(
            help="A paper's settings: jain_wallace, meister:encoder=transformer, wen, "
            "neely_schouten, serrano_smith."
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Kind of model: attentive, hierarchical:site=word.")
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Encoder, which reads the text: bilstm:hidden=128, cnn, mlp, average, "
            "transformer, none."
        ),
    ] = None,
    scorer: Annotated[
        str | None,
        typer.Option(
            help="Scorer, which scores each word: additive, dot:scaled=false, bilinear, deep."
        ),
    ] = None,
    projection: Annotated[
        str | None,
        typer.Option(
            help="Projection of scores to weights: softmax, sparsemax, entmax:alpha=1.5, "
            "sparsegen:lam=0.5, gumbel_softmax, uniform."
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            help="Output layer: linear_query, linear (without the query, as in the paper), tanh "
            "(as in the released code; not linear)."
        ),
    ] = None,
    embedding: Annotated[
        int | None,
        typer.Option(
            help="Size of the word vectors (ignored with --vectors, whose file has its own size)."
        ),
    ] = None,
    vectors: Annotated[
        Path | None,
        typer.Option(
            help="Pretrained word vectors: GloVe, fastText or word2vec text (.gz, .xz), or .npz."
        ),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(help="Maximum number of passes over the training data.")
    ] = None,
    batch_size: Annotated[int | None, typer.Option(help="Examples per training step.")] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="Learning rate of the optimiser.")
    ] = None,
    patience: Annotated[
        int | None, typer.Option(help="Stop after this many epochs without a better dev score.")
    ] = None,
    target_score: Annotated[
        float | None, typer.Option(help="Stop once the dev score has reached this value.")
    ] = None,
    good_enough: Annotated[float | None, typer.Option(hidden=True)] = None,
    intervention: Annotated[
        str | None,
        typer.Option(
            help="Train several models and compare: uniform, random, seeds:count=3, "
            "adversarial:lams=0.001+0.01, guided_mlp, fix_representation, fix_attention, "
            "deceptive, sparsity."
        ),
    ] = None,
    audits: Audits = None,
    measures: Measures = None,
    seed: Annotated[
        int, typer.Option(help="Random seed. The same seed gives exactly the same numbers.")
    ] = 0,
    sample: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Audit this many test examples, with the classes in proportion; default: all.",
        ),
    ] = None,
    keep_examples: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Number of examples to keep with their words, for the report; default: all, up "
            "to 200,000 words.",
        ),
    ] = None,
    illustrated: Annotated[int | None, typer.Option(min=0, hidden=True)] = None,
    other_seeds: Annotated[
        int,
        typer.Option(
            min=0,
            help="Train this many more models from other seeds, to see whether the attention is "
            "stable.",
        ),
    ] = 0,
    fail_if: FailIf = None,
    data_dir: DataDir = None,
    device: Device = "cpu",
    out: Annotated[Path, typer.Option(help="Folder that holds the run directories.")] = Path(
        "runs"
    ),
    workers: WorkerCount = 1,
    threads: Threads = None,
    scheduler: Scheduler = None,
    resources: Resources = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Run again even if the same run is already complete."),
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Train one model, audit it on the test set, print the card, write a report.

    Without options: simulated bAbI task 1 (needs no files), a BiLSTM with additive attention.
    Sizes and epochs that are omitted are chosen for the dataset. A run that is already complete
    is not run again; an interrupted one goes on where it stopped. With --intervention: train the
    models it needs and compare them.

    Example: `attnaudit run --dataset keyword --encoder cnn --other-seeds 2`
    """
    from attnaudit.results.gate import check_conditions
    from attnaudit.training import run as train_and_audit

    if intervention is not None and fail_if is not None:
        raise InputError(
            "--fail-if is about the card of one run, but --intervention compares several. "
            "Leave one of them out."
        )
    if fail_if is not None:
        check_conditions(fail_if)  # now, not after minutes of training
    choices: dict[str, Any] = {
        "model": model,
        "encoder": encoder,
        "scorer": scorer,
        "projection": projection,
        "output": output,
        "embedding": embedding,
        "vectors": None if vectors is None else str(vectors),
        "epochs": epochs,
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "patience": patience,
        "target_score": renamed("--good-enough", good_enough, "--target-score", target_score),
        "audits": split_names(audits),
        "measures": split_names(measures),
        "seed": seed,
        "sample": sample,
        "keep_examples": renamed("--illustrated", illustrated, "--keep-examples", keep_examples),
        "other_seeds": other_seeds,
    }
    place: dict[str, Any] = {"out": out, "preset": preset, "data_dir": data_dir, "device": device}
    shared = workers_from(workers, threads, scheduler, resources)
    if intervention is not None:
        intervene_and_print(intervention, dataset, workers=shared, **place, **choices)
        return
    try:
        finished = train_and_audit(dataset, force=force, workers=shared, **place, **choices)
    except OutputError as error:
        if error.results is not None:
            typer.echo(str(error.results.card()))  # type: ignore[attr-defined]  # Results
        raise
    if finished.was_complete:
        typer.echo("This run is already complete (--force runs it again).\n")
    print_results(finished.results)
    typer.echo(f"\nRun: {finished.folder}")
    typer.echo(f"Report: {finished.report}")
    if fail_if is not None:
        print_gate(finished.results, fail_if)
