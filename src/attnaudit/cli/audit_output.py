"""What `attnaudit audit` prints while it works and when it is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from attnaudit.core.verbosity import Verbosity, verbosity

if TYPE_CHECKING:
    from attnaudit.results.results import Results


def print_message(text: str) -> None:
    """A message about the work, on standard error; nothing with --quiet."""
    if verbosity() is not Verbosity.QUIET:
        typer.echo(text, err=True)


def print_results(results: Results, paths: Mapping[str, Any]) -> None:
    """What was audited, what was skipped or cut, and the card.

    paths: options of the command that are paths, as they were given. What is stored names no folder
    of the user, but the commands of the card are to be copied here.
    """
    about, texts = results.about["model"], results.about["texts"]
    rows, skipped = results.about["rows"], texts["skipped"]
    typer.echo(
        f"{about['model']}, layer {', '.join(map(str, about['layers']))}, "
        f"{rows} row{'s' if rows > 1 else ''} of attention; "
        f"{texts['audited']} text{'s' if texts['audited'] > 1 else ''}."
    )
    if count := skipped["rows"]:
        reasons = ", ".join(f"{many:,} {reason}" for reason, many in skipped["reasons"].items())
        typer.echo(f"{count:,} row{'s were' if count > 1 else ' was'} skipped: {reasons}.")
    if texts["audited"] < texts["read"]:
        typer.echo(
            f"{texts['audited']} of {texts['read']} texts were audited, with the labels in "
            "proportion."
        )
    if cut := results.about.get("truncated"):
        typer.echo(
            f"{cut} text{'s were' if cut > 1 else ' was'} longer than the model reads and cut."
        )
    call = {**texts.get("call", {}), **paths}
    here = replace(results, about={**results.about, "texts": {**texts, "call": call}})
    typer.echo(str(here.card()))
