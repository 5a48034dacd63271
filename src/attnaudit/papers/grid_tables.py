"""The models of several items as one grid, and that grid as a file for `attnaudit grid`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attnaudit.core.output_files import write_file
from attnaudit.papers.item import Plan, Table

_HEAD = "# Written by `attnaudit reproduce --write-grid`; run it with `attnaudit grid`.\n"
FAST: Table = {"epochs": 1, "embedding": 8, "sample": 12, "keep_examples": 12}


def settings(
    plan: Plan,
    seeds: Sequence[int],
    *,
    vectors: str | None,
    sample: int | None,
    epochs: int | None,
) -> Table:
    """The choices that all cells on a dataset share."""
    shared: Table = {"seeds": list(seeds)}
    if plan.fast:
        return {**shared, **FAST}
    if pretrained(vectors, plan.name):
        shared["vectors"] = vectors
    if sample is not None:
        shared["sample"] = sample
    if epochs is not None:
        shared["epochs"] = epochs
    return shared


def pretrained(vectors: str | None, dataset: str) -> bool:
    """Whether models of a dataset have the vectors: bAbI has none, in the papers and here."""
    return vectors is not None and not dataset.startswith("babi")


def as_grid(tables: Sequence[Table]) -> dict[str, Any]:
    """One grid of several tables, each complete in itself.

    A table that is included takes what it does not set from the first one, so the tables with most
    keys cannot come first: those with the fewest do.

    Examples
    --------
    >>> as_grid([{"dataset": "sst", "seeds": [0]}, {"dataset": "sst", "seeds": [1]}])["include"]
    [{'dataset': 'sst', 'seeds': [1]}]
    """
    ordered = sorted(tables, key=len)
    first, *others = ordered
    for other in others:
        if missing := first.keys() - other.keys():
            raise ValueError(f"a table of the grid lacks {', '.join(sorted(missing))}")
    return {**first, **({"include": others} if others else {})}


def toml_text(spec: dict[str, Any]) -> str:
    """The grid as TOML: what `attnaudit grid` reads.

    Examples
    --------
    >>> print(toml_text({"dataset": "sst", "seeds": [0, 1], "include": [{"seeds": [2]}]}))
    dataset = "sst"
    seeds = [0, 1]
    <BLANKLINE>
    [[include]]
    seeds = [2]
    <BLANKLINE>
    """
    parts = [{key: value for key, value in spec.items() if key != "include"}]
    parts += spec.get("include", [])
    texts = [
        "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in part.items())
        for part in parts
    ]
    return "\n[[include]]\n".join(texts)


def write_grid(spec: dict[str, Any], path: Path) -> Path:
    """Write a grid file."""
    return write_file(path, _HEAD + toml_text(spec), kind="grid file", option="--write-grid")
