"""`attnaudit reproduce`: the papers' tables, figures and claims, next to the published numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attnaudit.cli.exit_codes import ExitCode
from attnaudit.cli.options import DataDir, Device, Quiet, Verbose, deprecated
from attnaudit.core.errors import InputError


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command()(reproduce)


def reproduce(
    paper: Annotated[
        str | None,
        typer.Argument(
            help="jain_wallace_2019, wiegreffe_pinter_2019, serrano_smith_2019, meister_2021, "
            "neely_schouten_2020, wen_2022, or all."
        ),
    ] = None,
    items: Annotated[
        list[str] | None,
        typer.Argument(
            help="Tables, figures and claims of the paper: table2 figure3; default: all."
        ),
    ] = None,
    listing: Annotated[
        bool,
        typer.Option(
            "--list", help="List every item with what it needs, its cost, and whether data is here."
        ),
    ] = False,
    datasets: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated datasets; default: those of the paper in the data folder. "
            "Options of one are separated by semicolons: imdb:labels=stars;seed=1. Your own table: "
            "reviews.csv:label=stars."
        ),
    ] = None,
    seeds: Annotated[
        str,
        typer.Option(
            help="Trainings of every model, from seed 0, or several seeds: 3,4. A verdict needs "
            "three.",
        ),
    ] = "3",
    fast: Annotated[
        bool,
        typer.Option(
            "--fast", help="Tiny simulated data and one epoch, to try it out; numbers mean nothing."
        ),
    ] = False,
    workers: Annotated[
        int, typer.Option(min=1, help="Processes on this machine that train at the same time.")
    ] = 1,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "--output", help="Folder of the run directories; finished runs are used again."
        ),
    ] = Path("runs"),
    grid_file: Annotated[
        Path | None,
        typer.Option(
            "--write-grid",
            help="Write the models to this file for `attnaudit grid`; train nothing.",
        ),
    ] = None,
    vectors: Annotated[
        Path | None,
        typer.Option(help="Pretrained word vectors; the papers use 300 dimensions."),
    ] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Audit this many test examples; default: all.")
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(help="Number of passes over the training data; default: the paper's."),
    ] = None,
    encoders: Annotated[
        str | None,
        typer.Option(
            help="Only models with these encoders: bilstm, or bilstm,cnn. Items that need "
            "other encoders, too, are left out. Default: all."
        ),
    ] = None,
    retry_failed: Annotated[
        bool,
        typer.Option("--retry-failed", help="Run only the models that failed before, again."),
    ] = False,
    dataset: Annotated[str | None, typer.Option(hidden=True)] = None,
    seed: Annotated[int | None, typer.Option(hidden=True)] = None,
    data_dir: DataDir = None,
    device: Device = "cpu",
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Reproduce a paper's tables, figures and claims, with ours next to the published numbers.

    Trains and audits the models of the paper, or uses finished runs. Every number gets a verdict by
    one rule (docs/reproduction.md). Tables (csv) and figures (svg, png) go to OUT/reproductions.

    Example: `attnaudit reproduce meister_2021 table1 --datasets sst --vectors glove.6B.300d.txt`
    """
    from attnaudit.papers import item_list
    from attnaudit.papers import reproduce as make
    from attnaudit.papers.listing import list_text

    chosen = None if datasets is None else [part.replace(";", ",") for part in datasets.split(",")]
    if dataset is not None:
        deprecated("--dataset", "--datasets")
        chosen = [dataset]
    if seed is not None:
        deprecated("--seed", "--seeds")
    trainings = _seeds(seeds) if seed is None else [seed]
    only = (
        None if encoders is None else [name.strip() for name in encoders.split(",") if name.strip()]
    )
    if listing:
        count = trainings if isinstance(trainings, int) else len(trainings)
        listed = item_list(
            paper or "all",
            *(items or ()),
            datasets=chosen,
            seeds=count,
            encoders=only,
            data_dir=data_dir,
        )
        typer.echo(list_text(listed, count))
        return
    if paper is None:
        raise InputError("Name a paper, or all; `attnaudit reproduce --list` shows every item.")
    reproductions = make(
        paper,
        *(items or ()),
        datasets=chosen,
        seeds=trainings,
        fast=fast,
        workers=workers,
        out=out,
        vectors=vectors,
        sample=sample,
        epochs=epochs,
        data_dir=data_dir,
        device=device,
        encoders=only,
        grid_file=grid_file,
        retry_failed=retry_failed,
    )
    if reproductions.grid is not None:
        typer.echo(
            f"Grid: {reproductions.grid}\nTrain its models with `attnaudit grid "
            f"{reproductions.grid} --out {out}`, here or elsewhere; then this command without "
            "--write-grid makes the tables of them."
        )
        return
    for reproduction in reproductions:
        typer.echo(
            f"{reproduction}\n" + "".join(f"Figure: {path}\n" for path in reproduction.figures)
        )
    if fast:
        typer.echo(
            "--fast: one epoch on tiny simulated data, whatever --datasets, --vectors, --sample "
            "and --epochs say. The numbers mean nothing."
        )
    for cell in reproductions.failed:
        typer.secho(f"{cell.state}: {cell.label}: {cell.error}", fg="red", err=True)
    if reproductions.failed:
        raise typer.Exit(ExitCode.CELLS_FAILED)


def _seeds(text: str) -> int | list[int]:
    """How many trainings, or which seeds."""
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(
            f"--seeds must be a number of trainings or seeds with commas between, such as 3 or "
            f"3,4; got {text!r}."
        ) from error
    return numbers if len(numbers) > 1 else numbers[0]
