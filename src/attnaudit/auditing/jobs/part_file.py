"""The result of one shard as one Parquet file: values, examples kept whole, and facts."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.auditing.collector import Collector, Facts
from attnaudit.auditing.jobs.sealed_parquet import sealed_table, unsealed_table
from attnaudit.results.example_schema import kept_column, kept_rows
from attnaudit.results.value_columns import EXAMPLE_COLUMNS, Key
from attnaudit.results.value_file import keys_of, value_table

_FACTS, _KEPT = b"attnaudit-facts", "kept"


def part_bytes(collector: Collector) -> bytes:
    """The file of what was collected of a shard."""
    examples = collector.table.examples()
    matrix, keys = collector.table.matrix()
    table = value_table(examples, keys, matrix)
    table = table.append_column(_KEPT, kept_column(examples["example_id"], collector.examples))
    facts = json.dumps(collector.facts.as_dict()).encode()
    return sealed_table(table.replace_schema_metadata({**table.schema.metadata, _FACTS: facts}))


class Part:
    """What `part_bytes` stored of a shard.

    Parameters
    ----------
    content : of the file; a ValueError, or an error of pyarrow, if it is damaged.
    """

    def __init__(self, content: bytes) -> None:
        self._table = unsealed_table(content)
        schema = self._table.schema
        self.keys: list[Key] = keys_of(schema)
        self.facts = Facts.from_dict(json.loads(schema.metadata[_FACTS]))
        self._name_of = dict(zip(self.keys, schema.names[len(EXAMPLE_COLUMNS) : -1], strict=True))

    def examples(self) -> pd.DataFrame:
        """One line per example of the shard: example_id, label, predicted and length."""
        return self._table.select(list(EXAMPLE_COLUMNS)).to_pandas()

    def matrix(self, keys: list[Key]) -> np.ndarray:
        """The values (examples, keys); NaN for a key that the shard does not have."""
        matrix = np.full((len(self._table), len(keys)), np.nan)
        for place, key in enumerate(keys):
            if key in self._name_of:
                matrix[:, place] = self._table[self._name_of[key]].to_numpy()
        return matrix

    def kept(self) -> list[dict[str, Any]]:
        """The examples that are kept whole."""
        return kept_rows(self._table[_KEPT])
