"""What several commands share: lists of choices, the page in a folder of results, and the gate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from attnaudit.core.errors import OutputError

if TYPE_CHECKING:
    from attnaudit.results.results import Results


def split(text: str) -> list[str]:
    """Commas between audits, not those between the options of one: "furthest:epsilon=0.05,fidelity=code,permutation"."""
    parts: list[str] = []
    for piece in text.split(","):
        if parts and "=" in piece and ":" not in piece:
            parts[-1] += f",{piece}"
        else:
            parts.append(piece.strip())
    return parts


def write_report(results: Results, folder: Path) -> None:
    """report.html in the folder of results that are stored already; if it cannot be written, say how to make it later."""
    path = folder / "report.html"
    try:
        results.to_html(path)
    except OutputError as error:
        raise OutputError(
            error.errno,
            f"{error} The results in {folder} are complete; the page alone is missing. Make room, then: "
            f"attnaudit report {folder} --out {path}",
        ) from error
    typer.echo(f"Report: {path}")


def gate(results: Results, conditions: str) -> None:
    from attnaudit.results.gate import conditions_met

    held = conditions_met(results, conditions)
    if held:
        typer.secho(
            "The gate is closed. Conditions that hold:\n  " + "\n  ".join(held), fg="red", err=True
        )
        raise typer.Exit(3)
    typer.echo("The gate is open: none of the conditions holds.")
