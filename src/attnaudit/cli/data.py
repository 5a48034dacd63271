"""`attnaudit data`: list the corpora, download one, describe one, train vectors on one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attnaudit.cli.corpus_text import show_description, show_entry, wrapped
from attnaudit.cli.exit_codes import ExitCode
from attnaudit.cli.options import DataDir, Quiet, Verbose
from attnaudit.core.interruption import Interrupted

app = typer.Typer(help="List the corpora and which of them are here; download one; describe one.")


@app.callback(invoke_without_command=True)
def overview(context: typer.Context, data_dir: DataDir = None) -> None:
    """List every corpus: task, size, licence, source, whether it is here and what is missing.

    `attnaudit data get imdb` downloads a corpus; `attnaudit data describe imdb` counts its texts,
    words and classes.
    """
    context.obj = data_dir
    if context.invoked_subcommand is not None:
        return
    from attnaudit.data import data_folder
    from attnaudit.data.listing import entries

    folder = data_folder(data_dir)
    listed = entries(folder)
    corpora = [entry for entry in listed if entry.needs_files]
    typer.echo(f"Data folder: {folder}")
    typer.echo(
        f"Corpora here: {sum(entry.place is not None for entry in corpora)} of {len(corpora)}."
    )
    for entry in listed:
        show_entry(entry)


@app.command()
def get(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(help="Name of a corpus, as `attnaudit data` lists it: imdb.")
    ],
    data_dir: DataDir = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Download a freely available corpus and verify its checksum.

    For other corpora, print how to get them (exit code 2). An interrupted download continues when
    the same command is given again.

    Example: `attnaudit data get imdb`
    """
    from attnaudit.core import registry
    from attnaudit.data import DATASETS, data_folder
    from attnaudit.data.download import fetch
    from attnaudit.data.listing import about_chosen, missing

    name, options = registry.parse(name)
    about = about_chosen(registry.find(DATASETS, name, "dataset"), options)
    if about is None or not (about.places or about.locate):
        typer.echo(f"{name} needs no files." + (f" {about.steps}" if about and about.steps else ""))
        return
    folder = data_folder(data_dir or context.obj)
    if (place := about.look(folder)) is not None:
        typer.echo(f"{name} is already here: {place}")
        return
    if not about.downloads:
        typer.echo(
            wrapped(
                f"{about.title} cannot be downloaded automatically. Licence: {about.licence}.", ""
            )
        )
        typer.echo()
        typer.echo(wrapped(about.steps or f"See {about.home}.", ""))
        if about.places:
            typer.echo()
            typer.echo(wrapped(f"Missing in {folder}: {missing(about, folder)}.", ""))
        raise typer.Exit(ExitCode.INPUT)
    typer.echo(f"{about.title}\nLicence: {about.licence}\nFrom: {about.home}")
    try:
        for download in about.downloads:
            path = fetch(download, folder)
            algorithm = download.checksum.partition(":")[0]
            typer.echo(f"{path}: {path.stat().st_size:,} bytes, {algorithm} as expected")
    except (KeyboardInterrupt, Interrupted):
        typer.secho(
            "attnaudit: interrupted. The part that was downloaded is kept; the same command "
            "continues from there.",
            fg="red",
            err=True,
        )
        raise typer.Exit(130) from None


@app.command()
def describe(
    context: typer.Context,
    choice: Annotated[
        str,
        typer.Argument(
            metavar="NAME[:OPTIONS]", help="A dataset: sst, imdb:labels=stars, babi:task=2."
        ),
    ],
    data_dir: DataDir = None,
) -> None:
    """Count vocabulary, lengths and classes of a dataset.

    Next to the numbers of Jain & Wallace 2019 (table 1), if they used it.

    Example: `attnaudit data describe babi:task=2`
    """
    from attnaudit.data.describe import describe

    show_description(describe(choice, data_dir=data_dir or context.obj))


@app.command()
def vectors(
    context: typer.Context,
    choice: Annotated[
        str,
        typer.Argument(metavar="NAME[:OPTIONS]", help="A dataset: mimic:task=anemia, reviews.csv."),
    ],
    out: Annotated[Path, typer.Option(help="The .npz file to write, for --vectors.")],
    size: Annotated[int, typer.Option(min=1, help="Numbers per word.")] = 300,
    window: Annotated[
        int, typer.Option(min=1, help="Words on either side that a word predicts.")
    ] = 5,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the training texts.")] = 5,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    data_dir: DataDir = None,
) -> None:
    """Train word vectors on the training texts of a dataset (word2vec, by gensim).

    Jain & Wallace 2019 do so for MIMIC. Needs pip install 'attnaudit[vectors]'.

    Example: `attnaudit data vectors mimic:task=anemia --out anemia.npz`
    """
    from attnaudit.data import train_vectors

    folder = data_dir or context.obj
    made = train_vectors(
        choice, out, size=size, window=window, epochs=epochs, seed=seed, data_dir=folder
    )
    typer.echo(f"Vectors: {made}")
