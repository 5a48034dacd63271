"""The user's texts for a model that has a tokenizer of its own: read from a file, labels optional, nothing changed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnaudit.datasets.reading.columns import Columns, label_column
from attnaudit.datasets.reading.labels import is_missing
from attnaudit.datasets.reading.rows import LONGEST, BadRows
from attnaudit.datasets.reading.tables import file_table
from attnaudit.errors import InputError


@dataclass(frozen=True)
class OwnText:
    example_id: str
    text: str | tuple[str, str]  # or a pair
    label: Any = None


def read_texts(
    path: Path,
    *,
    text: str | None = None,
    label: str | None = None,
    pair: str | None = None,
    skip_bad: bool = False,
) -> tuple[list[OwnText], BadRows]:
    """One text a row of a csv, tsv, jsonl or parquet file, and what was skipped. Columns that are not named are told by their names."""
    bad = BadRows(skip=skip_bad)
    table = file_table(Path(path), bad, delimiter=None, quoted=True)
    try:
        label = label_column(label, table.columns, table.where)
        # Without labels any column stands in for theirs, so that the rules for the others are the same.
        stand_in = next(iter(table.columns), None)
        columns = Columns(text, label or stand_in, pair or "", "", "").settled(table.columns, table.where)
    except InputError as error:  # the same rules, other names of the options
        raise InputError(re.sub(r"\b(text|label|query)=COLUMN", _option, str(error))) from None
    wanted = [each for each in (columns.text, label, columns.query) if each]
    found = []
    for number, (where, row) in enumerate(table.rows(list(dict.fromkeys(wanted)))):
        with bad:
            first = _string(row.get(columns.text or ""), where, "text")
            second = _string(row.get(columns.query), where, "second text") if columns.query else None
            value = row.get(label) if label else None
            if label and is_missing(value):
                raise InputError(f"{where}: the label is missing. Give all or leave the column out.")
            found.append(OwnText(f"row/{number}", first if second is None else (first, second), value))
    if not found:
        raise InputError(f"{path}: there is no text in it.")
    return found, bad


def _option(named: re.Match[str]) -> str:
    return f"--{named[1].replace('query', 'pair')}-column COLUMN"


def _string(value: Any, where: str, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(
            f"{where}: the {what} is empty or no text, got {str(value)[:40]!r}. Drop the row, or --skip-bad."
        )
    if len(value) > LONGEST:
        raise InputError(f"{where}: the {what} is longer than {LONGEST:,} characters.")
    return value
