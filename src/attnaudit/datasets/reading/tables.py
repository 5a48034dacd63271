"""Tables with named columns: csv, tsv, jsonl and parquet files, of which the columns are known before the rows are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnaudit.datasets.reading.rows import BadRows, csv_rows, json_rows, table_rows
from attnaudit.datasets.reading.sources import files
from attnaudit.datasets.reading.streams import BOMB_RATIO, BOMB_SIZE
from attnaudit.errors import InputError

Row = tuple[str, dict[str, Any]]  # where, values by column
ENDINGS = ".csv, .tsv, .jsonl (these also .gz, .xz or .bz2) or .parquet"
_ENDING = re.compile(r"\.(?:(csv|tsv|jsonl)(?:\.(?:gz|xz|bz2))?|(parquet))", re.IGNORECASE)
_AT_ONCE = 1000  # rows of a parquet file in memory


@dataclass(frozen=True)
class Table:
    where: str  # for people
    columns: list[str]
    rows: Callable[[Sequence[str]], Iterator[Row]]  # with the values of these columns
    classes: Callable[[str], Sequence[str] | None] = lambda column: None  # names that a column brings along


def endings(name: str) -> list[int]:
    """Places after which `name` may be cut and be the name of such a file."""
    return [
        found.end() for found in _ENDING.finditer(name) if name[found.end() : found.end() + 1] in ("", ":")
    ]


def file_table(path: Path, bad: BadRows, *, delimiter: str | None = None, quoted: bool = True) -> Table:
    found = next((each for each in _ENDING.finditer(path.name) if each.end() == len(path.name)), None)
    if not path.is_file():
        raise InputError(
            f"The file {str(path)!r} does not exist. Looked for it from the folder {str(Path.cwd())!r}."
        )
    if found is None:
        raise InputError(f"{path}: cannot tell what kind of file this is. Its name must end in {ENDINGS}.")
    kind = (found[1] or found[2]).lower()
    if kind == "parquet":
        return Table(str(path), _parquet_columns(path), lambda wanted: _parquet_rows(path, wanted))
    if kind == "jsonl":
        return Table(str(path), _json_columns(path, bad.skip), lambda wanted: _json_rows(path, bad))
    comma = delimiter or ("\t" if kind == "tsv" else ",")
    return Table(
        str(path),
        _csv_columns(path, comma, quoted),
        lambda wanted: _csv_rows(path, bad, comma, quoted, wanted),
    )


def _csv_columns(path: Path, delimiter: str, quoted: bool) -> list[str]:
    for file in files(path):
        for _, names in csv_rows(file, BadRows(), delimiter=delimiter, quoted=quoted):
            return [name.strip() for name in names]
    raise InputError(f"{path}: the file is empty. Expected a header with the names of the columns.")


def _csv_rows(path: Path, bad: BadRows, delimiter: str, quoted: bool, wanted: Sequence[str]) -> Iterator[Row]:
    for file in files(path):
        yield from table_rows(file, bad, needs=wanted, delimiter=delimiter, quoted=quoted)


def _json_columns(path: Path, skip: bool) -> list[str]:
    for file in files(path):
        for _, row in json_rows(file, BadRows(skip=skip)):
            return list(row)
    raise InputError(f"{path}: no line of it is a JSON object. Expected one object a line.")


def _json_rows(path: Path, bad: BadRows) -> Iterator[Row]:
    for file in files(path):
        yield from json_rows(file, bad)


def _parquet_columns(path: Path) -> list[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            limit = max(BOMB_SIZE, BOMB_RATIO * path.stat().st_size)
            groups = (file.metadata.row_group(number) for number in range(file.metadata.num_row_groups))
            largest = max((group.total_byte_size for group in groups), default=0)
            columns = list(file.schema_arrow.names)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: not a parquet file, or a damaged one ({str(error)[:200]}).") from error
    if largest > limit:
        raise InputError(
            f"{path}: a row group of {largest:,} bytes, over {BOMB_RATIO} times the size of the file. "
            "Write the file anew with smaller row groups."
        )
    return columns


def _parquet_rows(path: Path, wanted: Sequence[str]) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(_AT_ONCE, columns=list(wanted)):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{path}, row {number}", row
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path}, after row {number}: damaged ({str(error)[:200]}). Take the file anew."
        ) from error
