"""The text in one cell of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnaudit.data.reading.labels import is_missing
from attnaudit.data.reading.row_errors import BadRows, RowError
from attnaudit.data.reading.rows import LONGEST


def text_value(row: Mapping[str, Any], column: str, what: str, where: str, bad: BadRows) -> str:
    """The string in a column, or an error if it is missing, blank, too long or not a string.

    `what` names the value in messages.
    """
    value = row.get(column)
    if is_missing(value):
        raise RowError(f"{where}: the {what} is empty. {bad.advice}", reason="no text")
    if not isinstance(value, str):
        raise RowError(
            f"{where}: the {what} in column {column[:60]!r} must be text, "
            f"got {type(value).__name__}. {bad.advice}",
            reason="no text",
        )
    if len(value) > LONGEST:
        raise RowError(
            f"{where}: the {what} is longer than {LONGEST:,} characters. Is this the right column?",
            reason="too long",
        )
    return value
