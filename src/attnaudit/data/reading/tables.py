"""Tables with named columns: csv, tsv, jsonl, json and parquet files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.reading.data_files import endings, file_kind
from attnaudit.data.reading.delimiters import (
    Shape,
    checked_delimiter,
    delimiter_name,
    find_delimiter,
)
from attnaudit.data.reading.json_array import json_file_rows
from attnaudit.data.reading.row_errors import MALFORMED, BadRows
from attnaudit.data.reading.rows import csv_rows, json_rows, table_rows
from attnaudit.data.reading.size_limits import MOST_ROWS, check_size, within_limits
from attnaudit.data.reading.sources import File, files
from attnaudit.data.reading.streams import BOMB_RATIO, BOMB_SIZE, first_bytes, printable
from attnaudit.data.reading.text_encoding import as_utf8, checked_encoding

__all__ = ["Row", "Table", "endings", "file_table"]

Row = tuple[str, dict[str, Any]]  # location, values by column
HEAD = 50  # rows from which columns and delimiters are inferred
HEAD_BYTES = 1 << 24  # bytes in which these rows are looked for
_ROWS_AT_ONCE = 100  # rows of a parquet file in memory


def _no_classes(column: str) -> Sequence[str] | None:
    return None


@dataclass(frozen=True)
class Table:
    """A table whose columns are known before its rows are read."""

    where: str  # the file's name, for messages and notes
    columns: list[str]
    rows: Callable[[Sequence[str]], Iterator[Row]]  # all rows, with at least these columns
    classes: Callable[[str], Sequence[str] | None] = _no_classes  # a column's own class names
    head: list[dict[str, Any]] = field(default_factory=list)  # the first readable rows
    details: dict[str, str] = field(default_factory=dict)  # delimiter and encoding, if any


def file_table(
    path: Path,
    bad: BadRows,
    *,
    delimiter: str | None = None,
    quoted: bool = True,
    encoding: str | None = None,
    where: str | None = None,
) -> Table:
    """The table in a file, whose kind is inferred from its name.

    Delimiter and encoding are inferred if omitted; `where` replaces the file's name in messages.
    """
    kind, compressed = file_kind(path)
    source = _Source(
        path, where or printable(path.name), bad, checked_encoding(encoding, bad.spell), compressed
    )
    separator = checked_delimiter(delimiter, bad.spell)
    if separator is not None and kind not in ("csv", "tsv"):
        raise InputError(f"{source.where}: a delimiter is for csv and tsv files. Leave it out.")
    if kind == "parquet":
        if encoding is not None:
            raise InputError(
                f"{source.where}: a Parquet file has no encoding to name. Leave it out."
            )
        return _parquet_table(path, source.where)
    check_size(path, compressed=compressed)
    if kind in ("jsonl", "json"):
        return _json_table(source, json_file_rows if kind == "json" else json_rows)
    return _csv_table(source, kind, separator, quoted)


@dataclass(frozen=True)
class _Source:
    """A text file that can be opened several times."""

    path: Path
    where: str
    bad: BadRows
    encoding: str | None
    compressed: bool

    def opened(self, bytes_at_most: int | None = None) -> Iterator[File]:
        """The one file, decoded, from its beginning."""
        for file in files(self.path):
            decoded = as_utf8(replace(file, where=self.where), self.encoding, self.bad.spell)
            yield (
                decoded
                if bytes_at_most is None
                else replace(decoded, stream=first_bytes(decoded.stream, bytes_at_most))
            )

    def lenient(self) -> BadRows:
        """Skips bad rows, for a preview of rows that are read again later."""
        return BadRows(skip=True, spell=self.bad.spell)

    def details(self) -> dict[str, str]:
        """The file's encoding."""
        return next({"encoding": file.encoding or "utf-8"} for file in self.opened())


def _csv_table(source: _Source, kind: str, separator: str | None, quoted: bool) -> Table:
    def shape(delimiter: str) -> Shape:
        bad = source.lenient()
        rows = [
            len(fields) if number else fields
            for file in source.opened(HEAD_BYTES)
            for number, (_, fields) in enumerate(
                islice(csv_rows(file, bad, delimiter=delimiter, quoted=quoted), HEAD)
            )
        ]
        header: Any = rows[0] if rows else []
        # Rows that are too long or in another encoding say nothing about the delimiter.
        count = len(rows) - 1 + bad.reasons[MALFORMED]
        consistent = sum(width == len(header) for width in rows[1:])
        return Shape(header, consistent / count if count > 0 else 1.0)

    if separator is None:
        separator = "\t" if kind == "tsv" else find_delimiter(shape, source.where, source.bad.spell)
    dialect: dict[str, Any] = {"delimiter": separator, "quoted": quoted}

    def rows(wanted: Sequence[str]) -> Iterator[Row]:
        for file in source.opened():
            yield from within_limits(table_rows(file, source.bad, needs=wanted, **dialect))

    def head() -> Iterator[Row]:
        for file in source.opened(HEAD_BYTES):
            yield from table_rows(file, source.lenient(), needs=(), **dialect)

    columns = _csv_columns(source, dialect)
    return Table(
        source.where,
        columns,
        rows,
        head=[row for _, row in islice(head(), HEAD)],
        details={"delimiter": delimiter_name(separator), **source.details()},
    )


def _csv_columns(source: _Source, dialect: dict[str, Any]) -> list[str]:
    for file in source.opened():
        for _, names in csv_rows(file, BadRows(spell=source.bad.spell), **dialect):
            return [name.strip() for name in names]
    raise InputError(
        f"{source.where}: the file is empty. Expected a header with the names of the columns."
    )


def _json_table(source: _Source, read: Callable[[File, BadRows], Iterator[Row]]) -> Table:
    def rows(wanted: Sequence[str], bad: BadRows = source.bad) -> Iterator[Row]:
        for file in source.opened():
            yield from within_limits(read(file, bad))

    # Errors up to the first readable row are the user's, unless bad rows are skipped.
    bad = BadRows(skip=source.bad.skip, spell=source.bad.spell)
    if next(rows((), bad), None) is None:
        raise InputError(
            f"{source.where}: no line of it is a JSON object. Expected one object per line."
        )
    head = [row for _, row in islice(rows((), source.lenient()), HEAD)]
    columns = list(dict.fromkeys(name for row in head for name in row))
    return Table(source.where, columns, rows, head=head, details=source.details())


def _parquet_table(path: Path, where: str) -> Table:
    columns, string_columns = _parquet_columns(path, where)

    def rows(wanted: Sequence[str]) -> Iterator[Row]:
        yield from within_limits(_parquet_rows(path, where, wanted))

    head: list[dict[str, Any]] = []
    for column in string_columns:
        with suppress(InputError):  # a damaged column may not be needed
            for number, (_, row) in enumerate(islice(_parquet_rows(path, where, [column]), HEAD)):
                head += [{}] * (number + 1 - len(head))
                head[number] = {**head[number], **row}
    return Table(where, columns, rows, head=head)


def _parquet_columns(path: Path, where: str) -> tuple[list[str], list[str]]:
    """(all columns, the string columns), after a check of the sizes that the file declares."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            limit = max(BOMB_SIZE, BOMB_RATIO * path.stat().st_size)
            groups = (
                file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)
            )
            largest = max((group.total_byte_size for group in groups), default=0)
            schema = file.schema_arrow
            columns = list(schema.names)
            string_columns = [column.name for column in schema if _is_string(column.type)]
            count = file.metadata.num_rows
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(
            f"{where}: not a parquet file, or a damaged one ({_short(error)})."
        ) from error
    if largest > limit:
        raise InputError(
            f"{where}: a row group of {largest:,} bytes, over {BOMB_RATIO} times the size of the "
            "file. Write the file again with smaller row groups."
        )
    if not 0 <= count <= MOST_ROWS:
        raise InputError(
            f"{where}: it declares {count:,} rows, at most {MOST_ROWS:,} are read. "
            "Give a part of it."
        )
    return columns, list(dict.fromkeys(string_columns))


def _is_string(kind: Any) -> bool:
    import pyarrow.types as types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _parquet_rows(path: Path, where: str, wanted: Sequence[str]) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(_ROWS_AT_ONCE, columns=list(wanted)):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{where}, row {number}", row
    except (pa.ArrowException, OSError, OverflowError, ValueError) as error:
        raise InputError(
            f"{where}, after row {number}: damaged ({_short(error)}). Download the file again."
        ) from error


def _short(error: Exception) -> str:
    return printable(" ".join(str(error).split())[:200])
