"""`attnaudit show`: a quick look at one text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from attnaudit.cli.options import split_names, split_numbers


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command()(show)


def show(
    model_dir: Annotated[Path, typer.Argument(help="Folder of a Hugging Face classifier.")],
    text: Annotated[str, typer.Argument(help="The text.")],
    explanations: Annotated[
        str | None, typer.Option(help="Comma-separated names of measures, or all.")
    ] = None,
    layers: Annotated[str, typer.Option(help="As for `attnaudit audit`.")] = "last",
) -> None:
    """A quick look at one text: heatmaps of attention and other explanations.

    Nothing is tested: an audit says whether any of them may be shown.

    Example: `attnaudit show my-model "a dull film"`
    """
    from attnaudit.auditing.show import EXPLANATIONS, show

    chosen = split_names(explanations) or EXPLANATIONS
    look = show(model_dir, None, text, explanations=chosen, layers=split_numbers(layers))
    typer.echo(look.text(colour=sys.stdout.isatty()))
