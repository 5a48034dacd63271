"""Parquet files that say whether they are whole, down to the last bit of what is read from them.

The checksums that Parquet has of its own cover pages of values, but not the metadata, where a
flipped bit can turn numbers into nulls or into other numbers. This one is of what a reader gets.
"""

from __future__ import annotations

import hashlib
from io import BytesIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

_CHECKSUM = b"attnaudit-sha256"


def sealed_table(table: pa.Table) -> bytes:
    """The file of a table with its metadata and a checksum of both.

    Examples
    --------
    >>> file = sealed_table(pa.table({"tau": [0.5, -1.0]}))
    >>> unsealed_table(file)["tau"].to_pylist()
    [0.5, -1.0]
    """
    metadata = {**(table.schema.metadata or {}), _CHECKSUM: _checksum(table)}
    sink = BytesIO()
    pq.write_table(
        table.replace_schema_metadata(metadata),
        sink,
        compression="zstd",
        use_dictionary=False,
        write_page_checksum=True,
    )
    return sink.getvalue()


def unsealed_table(content: bytes) -> pa.Table:
    """The table of `sealed_table`; a ValueError or OSError if the file is damaged."""
    try:
        with pq.ParquetFile(BytesIO(content), page_checksum_verification=True) as file:
            table = file.read(use_threads=False)
    except NotImplementedError as error:  # a flipped bit of the schema names a type of its own
        raise ValueError(str(error)) from error
    if _checksum(table) != (table.schema.metadata or {}).get(_CHECKSUM):
        raise ValueError("its checksum does not match")
    return table


def _checksum(table: pa.Table) -> bytes:
    digest = hashlib.sha256()
    for key, value in sorted((table.schema.metadata or {}).items()):
        if key != _CHECKSUM:
            digest.update(repr((key, value)).encode())
    for field, column in zip(table.schema, table.columns, strict=True):
        digest.update(repr((field.name, column.null_count)).encode())
        if pa.types.is_floating(field.type):
            digest.update(np.ascontiguousarray(column.to_numpy()).tobytes())
        else:
            digest.update(repr(column.to_pylist()).encode())
    return digest.hexdigest().encode()
