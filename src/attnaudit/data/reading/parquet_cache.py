"""A parsed corpus as one Parquet file, from which examples are made one by one on access."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, overload

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from attnaudit.core.output_files import whole_file
from attnaudit.data.splits import SPLITS, Example, Splits

_ABOUT, _CHECKSUM = b"attnaudit", b"attnaudit-sha256"  # keys of the file's metadata
_LISTS: dict[str, pa.DataType] = {
    "tokens": pa.int32(),
    "query": pa.int32(),
    "evidence": pa.bool_(),
    "segments": pa.int32(),
    "candidates": pa.int32(),
}


class StoredExamples(Sequence[Example]):
    """A sequence of examples stored in columns; a missing list is a null."""

    def __init__(self, words: np.ndarray, table: pa.Table) -> None:
        self.words = words  # (V,) of str
        self.ids = table["example_id"].combine_chunks()
        self.labels = table["label"].combine_chunks()
        self.lists = {name: _Lists(table[name].combine_chunks()) for name in _LISTS}

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Example]: ...
    def __getitem__(self, index: int | slice) -> Example | Sequence[Example]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        values: dict[str, Any] = {}
        for name, column in self.lists.items():
            row = column[index]
            if row is not None and name in ("tokens", "query"):
                row = self.words[row]
            values[name] = None if row is None else tuple(row.tolist())
        return Example(self.ids[index].as_py(), label=self.labels[index].as_py(), **values)

    def __iter__(self) -> Iterator[Example]:
        return (self[index] for index in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Sequence)
            and len(self) == len(other)
            and all(a == b for a, b in zip(self, other, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]


class _Lists:
    """A column of lists: all values in one array, and the offsets at which lists begin."""

    def __init__(self, array: Any) -> None:
        self.offsets = array.offsets.to_numpy()
        self.values = array.values.to_numpy(zero_copy_only=False)
        self.missing = np.asarray(array.is_null()) if array.null_count else None

    def __getitem__(self, index: int) -> np.ndarray | None:
        if self.missing is not None and self.missing[index]:
            return None
        return self.values[self.offsets[index] : self.offsets[index + 1]]


def save(splits: Splits, path: Path) -> None:
    """Write a corpus to one file, whole or not at all."""
    index: defaultdict[str, int] = defaultdict(count().__next__)  # numbers words as they come
    examples = [(split, example) for split in SPLITS for example in getattr(splits, split)]

    def numbers(tokens: Sequence[str] | None) -> np.ndarray | None:
        if tokens is None:
            return None
        return np.fromiter(map(index.__getitem__, tokens), np.int32, len(tokens))

    columns: dict[str, Any] = {
        "split": pa.array([split for split, _ in examples]),
        "example_id": pa.array([example.example_id for _, example in examples]),
        "label": pa.array([example.label for _, example in examples], pa.int32()),
    }
    for name, kind in _LISTS.items():
        rows: Iterator[Any] = (getattr(example, name) for _, example in examples)
        if name in ("tokens", "query"):
            rows = map(numbers, rows)
        columns[name] = pa.array(rows, pa.list_(kind), size=len(examples))
    about = {
        "name": splits.name,
        "classes": splits.classes,
        "tokeniser": splits.tokeniser,
        "min_count": splits.min_count,
        "notes": splits.notes,
        "words": list(index),
        "sizes": [len(getattr(splits, split)) for split in SPLITS],
    }
    metadata = json.dumps(about).encode()
    table = pa.table(columns).replace_schema_metadata(
        {_ABOUT: metadata, _CHECKSUM: _checksum(metadata)}
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as draft:
        pq.write_table(table, draft, compression="zstd", write_page_checksum=True)


def load(path: Path) -> Splits:
    """Read a corpus from its file; a damaged file raises an error of pyarrow or a ValueError."""
    # Opened once: another process may replace the file at any time.
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        table = file.read()
    if _checksum(table.schema.metadata[_ABOUT]) != table.schema.metadata[_CHECKSUM]:
        raise ValueError(f"{path} is damaged")
    about = json.loads(table.schema.metadata[_ABOUT])
    words = np.array(about.pop("words"), dtype=object)
    parts: dict[str, Any] = {}
    start = 0
    for split, size in zip(SPLITS, about.pop("sizes"), strict=True):
        parts[split] = StoredExamples(words, table.slice(start, size))
        start += size
    return Splits(**parts, **{**about, "classes": tuple(about["classes"])}, checked=True)


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
