"""The examples of a corpus as examples of a job, which any process can read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from attnaudit.auditing.jobs.example_files import RowFormat
from attnaudit.core.contract import Batch
from attnaudit.data.batching import batches_of
from attnaudit.data.splits import Example
from attnaudit.data.vocabulary import Vocabulary

_NAMES = ("example_id", "label", "tokens", "query", "evidence", "segments", "candidates")


def _to_columns(example: Example) -> dict[str, Any]:
    return {name: getattr(example, name) for name in _NAMES}


def _from_columns(columns: dict[str, Any]) -> Example:
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in columns.items()
    }
    return Example(**fields)


EXAMPLES: RowFormat[Example] = RowFormat(
    pa.schema(
        [
            ("example_id", pa.string()),
            ("label", pa.int64()),
            ("tokens", pa.list_(pa.string())),
            ("query", pa.list_(pa.string())),
            ("evidence", pa.list_(pa.bool_())),
            ("segments", pa.list_(pa.int32())),
            ("candidates", pa.list_(pa.int32())),
        ]
    ),
    _to_columns,
    _from_columns,
    lambda example: len(example.tokens),
)


def batches_with(
    vocabulary: Vocabulary, classes: int
) -> Callable[[Sequence[Example]], list[Batch]]:
    """How batches are made of such examples for a model with this vocabulary."""
    return lambda examples: batches_of(examples, vocabulary, classes)
