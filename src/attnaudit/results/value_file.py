"""values.parquet: one line per example, one column per audit, measure, metric and row.

The examples are in the order in which they were audited; what is written and read at once is
bounded by a row group, whatever their number.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from types import TracebackType

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from attnaudit.core.errors import InputError
from attnaudit.results.value_columns import EXAMPLE_COLUMNS, Key, ValueColumns, by_id

_KEYS = b"attnaudit-keys"  # in the metadata of the file: the key of each value column, in order
GROUP_BYTES = 2**25  # of values in a row group


@lru_cache(maxsize=8)  # the runs of a report mostly have the same columns
def _schema(keys: tuple[Key, ...]) -> pa.Schema:
    fields = [
        pa.field("example_id", pa.string(), nullable=False),
        *(pa.field(name, pa.int64(), nullable=False) for name in EXAMPLE_COLUMNS[1:]),
        *(pa.field("|".join(map(str, key)), pa.float64(), nullable=False) for key in keys),
    ]
    return pa.schema(fields, metadata={_KEYS: json.dumps([list(key) for key in keys]).encode()})


def value_schema(keys: Sequence[Key]) -> pa.Schema:
    """The columns of the file; those of values are called "audit|measure|metric|row"."""
    return _schema(tuple(keys))


def keys_of(schema: pa.Schema) -> list[Key]:
    """The key of each value column of a file with this schema."""
    return [
        (str(audit), str(measure), str(metric), int(row))
        for audit, measure, metric, row in json.loads(schema.metadata[_KEYS])
    ]


def value_table(examples: pd.DataFrame, keys: Sequence[Key], matrix: np.ndarray) -> pa.Table:
    """Examples with their values (examples, keys), as they are stored."""
    schema = value_schema(keys)
    columns = [pa.array(examples[name]) for name in EXAMPLE_COLUMNS]
    columns += [pa.array(values) for values in np.ascontiguousarray(matrix.T)]
    cast = [column.cast(field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(cast, schema=schema)


class ValueFileWriter:
    """Writes values.parquet group by group; a context manager.

    Parameters
    ----------
    path : of the new file.
    keys : of the value columns.
    """

    def __init__(self, path: Path, keys: Sequence[Key]) -> None:
        self._keys = tuple(keys)
        self._writer = pq.ParquetWriter(
            path,
            value_schema(keys),
            compression="zstd",
            use_dictionary=False,
            write_page_checksum=True,
        )

    def __enter__(self) -> ValueFileWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.close()

    def write(self, examples: pd.DataFrame, matrix: np.ndarray) -> None:
        """Add a group of examples with their values (examples, keys)."""
        table = value_table(examples, self._keys, matrix)
        self._writer.write_table(table, row_group_size=max(1, len(examples)))


def write_values(columns: ValueColumns, path: Path) -> None:
    """Write the values of an audit: a copy of their file, or in the order of the example ids."""
    if columns.file is not None:
        shutil.copyfile(columns.file, path)
        return
    size = max(1, GROUP_BYTES // max(1, 8 * len(columns.keys)))
    matrix = columns.matrix()
    with ValueFileWriter(path, columns.keys) as writer:
        for start in range(0, max(len(columns), 1), size):
            group = slice(start, start + size)
            writer.write(columns.examples.iloc[group], matrix[group])


def read_columns(path: Path) -> ValueColumns:
    """The values of a values.parquet, read from the file when they are asked for."""
    file = ValueFile(path)
    examples = file.examples()
    order = by_id(examples["example_id"])
    if np.array_equal(order, np.arange(len(order))):
        columns = ValueColumns(examples, file.keys, file.matrix)
    else:
        columns = ValueColumns(examples.iloc[order], file.keys, lambda at: file.matrix(at)[order])
    columns.file = path
    return columns


class ValueFile:
    """values.parquet, read by column.

    Raises
    ------
    InputError
        If the file is not what `ValueFileWriter` writes.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            # Opened once: the file may be moved meanwhile, with the folder it is in.
            self._file = pq.ParquetFile(path, page_checksum_verification=True)
            schema = self._file.schema_arrow  # made from the file's at every access: slow
            self.keys = keys_of(schema)
        except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
            raise self._damaged(str(error)) from error
        if schema.remove_metadata() != value_schema(self.keys).remove_metadata():
            raise self._damaged("its columns are not those of values")
        self._names: list[str] = schema.names[len(EXAMPLE_COLUMNS) :]

    def examples(self) -> pd.DataFrame:
        """One line per example: example_id, label, predicted and length."""
        return self._table(list(EXAMPLE_COLUMNS)).to_pandas()

    def matrix(self, indices: Sequence[int]) -> np.ndarray:
        """These value columns, (examples, len(indices)), in the order of the file."""
        names = [self._names[index] for index in indices]
        table = self._table(names)
        matrix = np.empty((len(table), len(names)))
        for place, name in enumerate(names):
            matrix[:, place] = table[name].to_numpy()
        return matrix

    def _table(self, names: list[str]) -> pa.Table:
        try:
            return self._file.read(columns=names, use_threads=False)
        except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
            raise self._damaged(str(error)) from error

    def _damaged(self, reason: str) -> InputError:
        return InputError(f"{self._path} is damaged ({reason[:200]}). Make the results again.")
