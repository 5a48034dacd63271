"""The columns of the examples that are kept whole, as Parquet stores them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

_NUMBERS, _FLAGS = pa.list_(pa.float64()), pa.list_(pa.bool_())
_SCORES = pa.list_(pa.struct([("measure", pa.string()), ("values", _NUMBERS)]))
_MOVES = pa.list_(
    pa.struct(
        [
            ("kind", pa.string()),
            ("word", pa.int64()),
            ("to", pa.int64()),
            ("probs", _NUMBERS),
            ("jsd", pa.float64()),
            ("weights", _NUMBERS),
        ]
    )
)
_WORD_LEVEL = pa.struct(
    [
        ("words", pa.list_(pa.string())),
        ("source", pa.list_(pa.int64())),
        ("scores", _SCORES),
        ("answer_attention", _NUMBERS),
    ]
)
EXAMPLE = pa.struct(
    [
        ("example_id", pa.string()),
        ("label", pa.int64()),
        ("predicted", pa.int64()),
        ("probs", _NUMBERS),
        ("tokens", pa.list_(pa.string())),
        ("query", pa.string()),
        ("evidence", _FLAGS),
        ("attention", _NUMBERS),
        ("pair", pa.list_(pa.int64())),
        ("weight_on_marks", _NUMBERS),
        ("furthest", _NUMBERS),
        ("furthest_jsd", pa.float64()),
        ("furthest_upper", pa.float64()),
        ("furthest_exact", pa.bool_()),
        ("readout", _NUMBERS),
        ("scores", _SCORES),
        ("moves", _MOVES),
        ("answer", pa.list_(pa.string())),
        ("answer_attention", _NUMBERS),
        ("shuffled_order", pa.list_(pa.int64())),
        ("source_of_word", pa.list_(pa.int64())),
        ("word_level", _WORD_LEVEL),
    ]
)
# Of answers from sources only; the last two if words are items, or if both levels are audited.
CITATION_COLUMNS = (
    "answer",
    "answer_attention",
    "shuffled_order",
    "source_of_word",
    "word_level",
)


def kept_column(ids: Iterable[str], rows: Iterable[dict[str, Any]]) -> pa.Array:
    """The kept examples in the order of these ids; null where one was not kept."""
    by_id = {row["example_id"]: row for row in rows}
    return pa.array([by_id.get(example_id) for example_id in ids], EXAMPLE)


def kept_rows(column: pa.ChunkedArray) -> list[dict[str, Any]]:
    """The rows that `kept_column` was given, in the order of the ids."""
    return [
        {
            name: value
            for name, value in row.items()
            if name not in CITATION_COLUMNS or value is not None
        }
        for row in column.drop_null().to_pylist()
    ]
