"""What several commands share: lists of choices, and the gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from attnaudit.results import Results


def split(text: str) -> list[str]:
    """Commas between audits, not those between the options of one: "furthest:epsilon=0.05,fidelity=code,permutation"."""
    parts: list[str] = []
    for piece in text.split(","):
        if parts and "=" in piece and ":" not in piece:
            parts[-1] += f",{piece}"
        else:
            parts.append(piece.strip())
    return parts


def gate(results: Results, conditions: str) -> None:
    from attnaudit.gate import met

    held = met(results, conditions)
    if held:
        typer.secho("The gate is closed. Conditions that hold:\n  " + "\n  ".join(held), fg="red", err=True)
        raise typer.Exit(3)
    typer.echo("The gate is open: none of the conditions holds.")
