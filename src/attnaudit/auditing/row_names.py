"""The names of attention rows as their model counts them, for a model that offers `row_names(record)`."""

from __future__ import annotations

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import InputError


def row_names(model: AttentionModel, record: Record) -> list[str] | None:
    """One name per row of the record, R in all; None for a model that names none."""
    own = getattr(model, "row_names", None)
    if own is None:
        return None
    names = own(record)
    rows = record.alpha.shape[1]
    if not isinstance(names, (list, tuple)) or len(names) != rows or len(set(names)) < rows:
        raise InputError(
            f"row_names(record) of {type(model).__name__} must return {rows} different names, one per row of attention; "
            f"got {names!r}."
        )
    return [str(name) for name in names]
