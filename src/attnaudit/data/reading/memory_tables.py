"""Tables in memory: a pandas frame, a Hugging Face dataset, a dict of columns or a list of dicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.reading.tables import HEAD, Row, Table


def frame_table(frame: Any, name: str) -> Table:
    """Rows are counted from 0, as `frame.iloc` does."""
    columns = [str(column) for column in frame.columns]

    def rows(wanted: Sequence[str]) -> Iterator[Row]:
        values = [frame.iloc[:, columns.index(column)].tolist() for column in wanted]
        return _rows(wanted, values, name)

    first = [frame.iloc[:HEAD, number].tolist() for number in range(len(columns))]
    return Table(name, columns, rows, head=[row for _, row in _rows(columns, first, name)])


def dataset_table(dataset: Any, name: str) -> Table:
    """The names of a ClassLabel column are its classes. Rows are counted from 0."""
    columns = dataset.column_names

    def rows(wanted: Sequence[str]) -> Iterator[Row]:
        for number, row in enumerate(dataset.select_columns(list(wanted))):
            yield f"{name}, row {number}", row

    def classes(column: str) -> Sequence[str] | None:
        return getattr((dataset.features or {}).get(column), "names", None)

    features = dataset.features or {}
    strings = [
        each for each in columns if getattr(features.get(each), "dtype", "string") == "string"
    ]
    head = list(islice(dataset.select_columns(strings), HEAD)) if strings else []
    return Table(name, columns, rows, classes, head=head)


def columns_table(columns: Mapping[Any, Any], name: str) -> Table:
    """A dict of columns, each a sequence with one value per row."""
    values = {
        str(column): list(given) for column, given in columns.items() if not isinstance(given, str)
    }
    if len(values) < len(columns) or len({len(each) for each in values.values()}) > 1:
        lengths = {column: len(each) for column, each in values.items()}
        raise InputError(
            f"{name}: expected one list per column, all of the same length, got lengths {str(lengths)[:200]} "
            f"for {len(columns)} columns."
        )

    def rows(wanted: Sequence[str]) -> Iterator[Row]:
        return _rows(wanted, [values[column] for column in wanted], name)

    first = [each[:HEAD] for each in values.values()]
    return Table(
        name, list(values), rows, head=[row for _, row in _rows(list(values), first, name)]
    )


def records_table(records: Sequence[Mapping[Any, Any]], name: str) -> Table:
    """A list of dicts, one per row."""
    listed = [{str(key): value for key, value in record.items()} for record in records]
    columns = list(dict.fromkeys(key for record in listed for key in record))

    def rows(wanted: Sequence[str]) -> Iterator[Row]:
        for number, record in enumerate(listed):
            yield f"{name}, row {number}", record

    return Table(name, columns, rows, head=listed[:HEAD])


def is_frame(data: Any) -> bool:
    return hasattr(data, "columns") and hasattr(data, "iloc")


def is_dataset(data: Any) -> bool:
    return isinstance(getattr(data, "column_names", None), list) and hasattr(data, "select_columns")


def is_table(data: Any) -> bool:
    """Has it named columns of its own? Lists of dicts are seen by `memory_table` only."""
    return (
        is_frame(data)
        or is_dataset(data)
        or (hasattr(data, "to_pandas") and hasattr(data, "columns"))
    )


def memory_table(data: Any) -> Table | None:
    """The table of anything in memory that has named columns; None for what has none."""
    if is_frame(data):
        return frame_table(data, "frame")
    if is_dataset(data):
        return dataset_table(data, "dataset")
    if isinstance(data, Mapping):
        if data and all(is_dataset(part) or is_frame(part) for part in data.values()):
            parts = ", ".join(repr(str(key)) for key in data)
            raise InputError(
                f"The data has several splits: {parts}. Choose one, for example data[{next(iter(data))!r}]."
            )
        return columns_table(data, "dict")
    if is_table(data):  # of pyarrow or polars
        return frame_table(data.to_pandas(), "table")
    if isinstance(data, list) and data and all(isinstance(each, Mapping) for each in data):
        return records_table(data, "list")
    return None


def _rows(columns: Sequence[str], values: Sequence[Sequence[Any]], name: str) -> Iterator[Row]:
    for number, row in enumerate(zip(*values, strict=True)):
        yield f"{name}, row {number}", dict(zip(columns, row, strict=True))
