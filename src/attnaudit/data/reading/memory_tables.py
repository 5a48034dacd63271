"""Tables in memory: pandas frames, Hugging Face datasets, dicts of columns and lists of dicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.reading.tables import HEAD, Row, Table


def frame_table(frame: Any, name: str) -> Table:
    """The table of a pandas frame; rows are counted from 0, as in `frame.iloc`."""
    columns = [str(column) for column in frame.columns]

    def rows(wanted: Sequence[str]) -> Iterator[Row]:
        values = [frame.iloc[:, columns.index(column)].tolist() for column in wanted]
        return _rows(wanted, values, name)

    first = [frame.iloc[:HEAD, number].tolist() for number in range(len(columns))]
    return Table(name, columns, rows, head=[row for _, row in _rows(columns, first, name)])


def dataset_table(dataset: Any, name: str) -> Table:
    """The table of a Hugging Face dataset; the names of a ClassLabel column are its classes."""
    columns = dataset.column_names

    def rows(wanted: Sequence[str]) -> Iterator[Row]:
        for number, row in enumerate(dataset.select_columns(list(wanted))):
            yield f"{name}, row {number}", row

    def classes(column: str) -> Sequence[str] | None:
        return getattr((dataset.features or {}).get(column), "names", None)

    features = dataset.features or {}
    strings = [
        column for column in columns if getattr(features.get(column), "dtype", "string") == "string"
    ]
    head = list(islice(dataset.select_columns(strings), HEAD)) if strings else []
    return Table(name, columns, rows, classes, head=head)


def columns_table(columns: Mapping[Any, Any], name: str) -> Table:
    """The table of a dict of columns, each a sequence with one value per row."""
    values = {
        str(column): list(given) for column, given in columns.items() if not isinstance(given, str)
    }
    lengths = {column: len(listed) for column, listed in values.items()}
    if len(values) < len(columns) or len(set(lengths.values())) > 1:
        raise InputError(
            f"{name}: expected one list per column, all of the same length, "
            f"got lengths {str(lengths)[:200]} for {len(columns)} columns."
        )

    def rows(wanted: Sequence[str]) -> Iterator[Row]:
        return _rows(wanted, [values[column] for column in wanted], name)

    first = [listed[:HEAD] for listed in values.values()]
    return Table(
        name, list(values), rows, head=[row for _, row in _rows(list(values), first, name)]
    )


def records_table(records: Sequence[Mapping[Any, Any]], name: str) -> Table:
    """The table of a list of dicts, one per row."""
    listed = [{str(key): value for key, value in record.items()} for record in records]
    columns = list(dict.fromkeys(key for record in listed for key in record))

    def rows(wanted: Sequence[str]) -> Iterator[Row]:
        for number, record in enumerate(listed):
            yield f"{name}, row {number}", record

    return Table(name, columns, rows, head=listed[:HEAD])


def is_frame(data: Any) -> bool:
    """Whether this is a pandas frame."""
    return hasattr(data, "columns") and hasattr(data, "iloc")


def is_dataset(data: Any) -> bool:
    """Whether this is a Hugging Face dataset."""
    return isinstance(getattr(data, "column_names", None), list) and hasattr(data, "select_columns")


def is_table(data: Any) -> bool:
    """Whether this has named columns; lists of dicts are recognised by `memory_table` only."""
    return (
        is_frame(data)
        or is_dataset(data)
        or (hasattr(data, "to_pandas") and hasattr(data, "columns"))
    )


def memory_table(data: Any) -> Table | None:
    """The table of any object with named columns; None if it has none."""
    if is_frame(data):
        return frame_table(data, "frame")
    if is_dataset(data):
        return dataset_table(data, "dataset")
    if isinstance(data, Mapping):
        if data and all(is_dataset(part) or is_frame(part) for part in data.values()):
            parts = ", ".join(repr(str(key)) for key in data)
            raise InputError(
                f"The data has several splits: {parts}. "
                f"Choose one, for example data[{next(iter(data))!r}]."
            )
        return columns_table(data, "dict")
    if is_table(data):  # pyarrow or polars
        return frame_table(data.to_pandas(), "table")
    if isinstance(data, list) and data and all(isinstance(row, Mapping) for row in data):
        return records_table(data, "list")
    return None


def _rows(columns: Sequence[str], values: Sequence[Sequence[Any]], name: str) -> Iterator[Row]:
    for number, row in enumerate(zip(*values, strict=True)):
        yield f"{name}, row {number}", dict(zip(columns, row, strict=True))
