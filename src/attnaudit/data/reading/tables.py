"""Tables with named columns: csv, tsv, jsonl, json and parquet files, of which the columns are known before the rows are read."""

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
from attnaudit.data.reading.streams import BOMB_RATIO, BOMB_SIZE, beginning, shown
from attnaudit.data.reading.text_encoding import as_utf8, checked_encoding

__all__ = ["Row", "Table", "endings", "file_table"]

Row = tuple[str, dict[str, Any]]  # where, values by column
HEAD = 50  # rows by which columns and delimiters are judged
HEAD_BYTES = 1 << 24  # in which these are looked for
_AT_ONCE = 100  # rows of a parquet file in memory


@dataclass(frozen=True)
class Table:
    where: str  # the file's name, for people and for the notes
    columns: list[str]
    rows: Callable[[Sequence[str]], Iterator[Row]]  # with the values of these columns
    classes: Callable[[str], Sequence[str] | None] = lambda column: (
        None
    )  # names that a column brings along
    head: list[dict[str, Any]] = field(default_factory=list)  # the first rows that can be read
    details: dict[str, str] = field(
        default_factory=dict
    )  # delimiter and encoding, where the kind has them


def file_table(
    path: Path,
    bad: BadRows,
    *,
    delimiter: str | None = None,
    quoted: bool = True,
    encoding: str | None = None,
    where: str | None = None,
) -> Table:
    """The table in a file, by the ending of its name. Delimiter and encoding are inferred if omitted."""
    kind, compressed = file_kind(path)
    source = _Source(
        path, where or shown(path.name), bad, checked_encoding(encoding, bad.spell), compressed
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
    """A text file that can be opened again, from its beginning."""

    path: Path
    where: str
    bad: BadRows
    encoding: str | None
    compressed: bool

    def opened(self, bytes_at_most: int | None = None) -> Iterator[File]:
        for file in files(self.path):
            decoded = as_utf8(replace(file, where=self.where), self.encoding, self.bad.spell)
            yield (
                decoded
                if bytes_at_most is None
                else replace(decoded, stream=beginning(decoded.stream, bytes_at_most))
            )

    def lenient(self) -> BadRows:
        """For a look at the first rows, which are read again."""
        return BadRows(skip=True, spell=self.bad.spell)

    def details(self) -> dict[str, str]:
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
        # Other bad rows, too long or in another encoding, say nothing about the delimiter.
        others = len(rows) - 1 + bad.reasons[MALFORMED]
        fitting = sum(count == len(header) for count in rows[1:])
        return Shape(header, fitting / others if others > 0 else 1.0)

    if separator is None:
        separator = "\t" if kind == "tsv" else find_delimiter(shape, source.where, source.bad.spell)
    how: dict[str, Any] = {"delimiter": separator, "quoted": quoted}

    def rows(wanted: Sequence[str]) -> Iterator[Row]:
        for file in source.opened():
            yield from within_limits(table_rows(file, source.bad, needs=wanted, **how))

    def head() -> Iterator[Row]:
        for file in source.opened(HEAD_BYTES):
            yield from table_rows(file, source.lenient(), needs=(), **how)

    columns = _csv_columns(source, how)
    return Table(
        source.where,
        columns,
        rows,
        head=[row for _, row in islice(head(), HEAD)],
        details={"delimiter": delimiter_name(separator), **source.details()},
    )


def _csv_columns(source: _Source, how: dict[str, Any]) -> list[str]:
    for file in source.opened():
        for _, names in csv_rows(file, BadRows(spell=source.bad.spell), **how):
            return [name.strip() for name in names]
    raise InputError(
        f"{source.where}: the file is empty. Expected a header with the names of the columns."
    )


def _json_table(source: _Source, read: Callable[[File, BadRows], Iterator[Row]]) -> Table:
    def rows(wanted: Sequence[str], bad: BadRows = source.bad) -> Iterator[Row]:
        for file in source.opened():
            yield from within_limits(read(file, bad))

    first = BadRows(skip=source.bad.skip, spell=source.bad.spell)
    head = [
        row for _, row in islice(rows((), first), 1)
    ]  # its errors are the user's, unless rows are skipped
    if not head:
        raise InputError(
            f"{source.where}: no line of it is a JSON object. Expected one object a line."
        )
    head = [row for _, row in islice(rows((), source.lenient()), HEAD)]
    columns = list(dict.fromkeys(name for row in head for name in row))
    return Table(source.where, columns, rows, head=head, details=source.details())


def _parquet_table(path: Path, where: str) -> Table:
    columns, of_strings = _parquet_columns(path, where)

    def rows(wanted: Sequence[str]) -> Iterator[Row]:
        yield from within_limits(_parquet_rows(path, where, wanted))

    head: list[dict[str, Any]] = []
    for column in of_strings:
        with suppress(InputError):  # damage in a column that may not be wanted
            for number, (_, row) in enumerate(islice(_parquet_rows(path, where, [column]), HEAD)):
                head += [{}] * (number + 1 - len(head))
                head[number] = {**head[number], **row}
    return Table(where, columns, rows, head=head)


def _parquet_columns(path: Path, where: str) -> tuple[list[str], list[str]]:
    """All columns, and those of strings, after a check of the sizes that the file declares."""
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
            of_strings = [each.name for each in schema if _is_string(each.type)]
            count = file.metadata.num_rows
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(
            f"{where}: not a parquet file, or a damaged one ({_short(error)})."
        ) from error
    if largest > limit:
        raise InputError(
            f"{where}: a row group of {largest:,} bytes, over {BOMB_RATIO} times the size of the file. "
            "Write the file again with smaller row groups."
        )
    if not 0 <= count <= MOST_ROWS:
        raise InputError(
            f"{where}: it declares {count:,} rows, at most {MOST_ROWS:,} are read. Give a part of it."
        )
    return columns, list(dict.fromkeys(of_strings))


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
            for batch in file.iter_batches(_AT_ONCE, columns=list(wanted)):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{where}, row {number}", row
    except (pa.ArrowException, OSError, OverflowError, ValueError) as error:
        raise InputError(
            f"{where}, after row {number}: damaged ({_short(error)}). Get the file again."
        ) from error


def _short(error: Exception) -> str:
    return shown(" ".join(str(error).split())[:200])
