"""The result of one shard as one Parquet file: values, examples kept whole, and facts."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from attnaudit.auditing.collector import Collector, Facts
from attnaudit.results.example_schema import kept_column, kept_rows
from attnaudit.results.value_columns import EXAMPLE_COLUMNS, Key
from attnaudit.results.value_file import keys_of, value_table

_FACTS, _KEPT = b"attnaudit-facts", "kept"


def part_bytes(collector: Collector) -> bytes:
    """The file of what was collected of a shard."""
    examples = collector.table.examples()
    matrix, keys = collector.table.matrix()
    table = value_table(examples, keys, matrix)
    facts = json.dumps(collector.facts.as_dict()).encode()
    kept = kept_column(examples["example_id"], collector.examples)
    table = table.append_column(_KEPT, kept)
    table = table.replace_schema_metadata({**table.schema.metadata, _FACTS: facts})
    sink = BytesIO()
    pq.write_table(table, sink, compression="zstd", use_dictionary=False, write_page_checksum=True)
    return sink.getvalue()


class Part:
    """What `part_bytes` stored, read when it is asked for.

    Parameters
    ----------
    content : of the file.
    """

    def __init__(self, content: bytes) -> None:
        self._file = pq.ParquetFile(BytesIO(content), page_checksum_verification=True)
        schema = self._file.schema_arrow
        self.keys: list[Key] = keys_of(schema)
        self.facts = Facts.from_dict(json.loads(schema.metadata[_FACTS]))
        self._name_of = dict(zip(self.keys, schema.names[len(EXAMPLE_COLUMNS) :], strict=False))

    def examples(self) -> pd.DataFrame:
        """One line per example of the shard: example_id, label, predicted and length."""
        return self._read(list(EXAMPLE_COLUMNS)).to_pandas()

    def matrix(self, keys: list[Key]) -> np.ndarray:
        """The values (examples, keys); NaN for a key that the shard does not have."""
        known = [key for key in keys if key in self._name_of]
        table = self._read([self._name_of[key] for key in known])
        matrix = np.full((self._file.metadata.num_rows, len(keys)), np.nan)
        for place, key in enumerate(keys):
            if key in self._name_of:
                matrix[:, place] = table[self._name_of[key]].to_numpy()
        return matrix

    def kept(self) -> list[dict[str, Any]]:
        """The examples that are kept whole."""
        return kept_rows(self._read([_KEPT])[_KEPT])

    def _read(self, names: list[str]) -> pa.Table:
        return self._file.read(columns=names, use_threads=False)
