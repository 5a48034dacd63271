"""The names of attention rows, as given by a model that offers `row_names(record)`."""

from __future__ import annotations

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import InputError


def row_names(model: AttentionModel, record: Record) -> list[str] | None:
    """One name per row of the record, R in all; None if the model does not name its rows."""
    name_rows = getattr(model, "row_names", None)
    if name_rows is None:
        return None
    names = name_rows(record)
    rows = record.alpha.shape[1]
    if not isinstance(names, (list, tuple)) or len(names) != rows or len(set(names)) < rows:
        raise InputError(
            f"row_names(record) of {type(model).__name__} must return {rows} different names, "
            f"one per row of attention; got {names!r}."
        )
    return [str(name) for name in names]
