"""Every value of an audit by column: one number per example for each metric and attention row.

Held in memory or in a file; either way a column is read when it is asked for, so that a summary or
a chart of a million examples needs the memory of a few columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from attnaudit.results.rows import METRIC_KEY

Key = tuple[str, str, str, int]  # audit, measure, metric, row
EXAMPLE_COLUMNS = ("example_id", "label", "predicted", "length")
COLUMNS = (*EXAMPLE_COLUMNS, *METRIC_KEY, "row", "value")  # of the long form
_BLOCK_BYTES = 2**26  # of columns that are held at once


class ValueColumns:
    """The values of an audit, one column per key; examples are in the order of their ids.

    Parameters
    ----------
    examples : DataFrame, sorted by example_id
        The columns example_id, label (-1 if there is none), predicted and length.
    keys : sequence of (audit, measure, metric, row)
        One per column, in the order in which they were computed.
    read : callable
        ``read(indices)`` returns these columns, (examples, len(indices)), NaN where undefined.

    Examples
    --------
    >>> examples = pd.DataFrame({"example_id": ["a", "b"], "label": -1, "predicted": [0, 1],
    ...                          "length": 3})
    >>> keys = [("agreement", "gradient", "tau", 0)]
    >>> columns = ValueColumns.from_matrix(examples, keys, np.array([[0.5], [0.25]]))
    >>> columns.column(keys[0]).tolist()
    [0.5, 0.25]
    """

    def __init__(
        self,
        examples: pd.DataFrame,
        keys: Sequence[Key],
        read: Callable[[Sequence[int]], np.ndarray],
    ) -> None:
        self.examples = examples.reset_index(drop=True)
        self.keys = tuple(keys)
        self.file: Path | None = None  # the values.parquet that the values are read from
        self._index = {key: index for index, key in enumerate(self.keys)}
        self._rows: dict[tuple[str, str, str], list[Key]] = {}
        for key in self.keys:
            self._rows.setdefault(key[:3], []).append(key)
        self._read = read

    def __len__(self) -> int:
        """The number of examples."""
        return len(self.examples)

    @classmethod
    def from_matrix(
        cls, examples: pd.DataFrame, keys: Sequence[Key], matrix: np.ndarray
    ) -> ValueColumns:
        """Columns in memory.

        Parameters
        ----------
        examples, keys : as for the class, but the examples in any order.
        matrix : (examples, keys) in the order of the examples given.
        """
        order = by_id(examples["example_id"])
        if not np.array_equal(order, np.arange(len(order))):
            matrix = matrix[order]
        return cls(examples.iloc[order], keys, lambda indices: matrix[:, list(indices)])

    @classmethod
    def from_long(cls, frame: pd.DataFrame) -> ValueColumns:
        """Columns from one line per value, as `long` returns them; missing lines are NaN."""
        if not len(frame):
            empty = pd.DataFrame({name: frame.get(name, []) for name in EXAMPLE_COLUMNS})
            return cls.from_matrix(empty, (), np.empty((0, 0)))
        examples = frame.drop_duplicates("example_id")[list(EXAMPLE_COLUMNS)]
        examples = examples.sort_values("example_id", kind="stable", ignore_index=True)
        place = pd.Index(examples["example_id"]).get_indexer(frame["example_id"])
        parts = frame.groupby([*METRIC_KEY, "row"], observed=True, sort=False)
        keys, values = [], frame["value"].to_numpy()
        matrix = np.full((len(examples), parts.ngroups), np.nan)
        for index, ((audit, measure, metric, row), lines) in enumerate(parts.indices.items()):
            keys.append((str(audit), str(measure), str(metric), int(row)))
            matrix[place[lines], index] = values[lines]
        return cls.from_matrix(examples, keys, matrix)

    def in_memory(self) -> ValueColumns:
        """The same without the file."""
        return ValueColumns.from_matrix(self.examples, self.keys, self.matrix())

    def has(self, key: Key) -> bool:
        """Whether there is a column of this key."""
        return key in self._index

    def column(self, key: Key) -> np.ndarray:
        """The values (examples,) of one key."""
        return self._read([self._index[key]])[:, 0]

    def matrix(self, keys: Sequence[Key] | None = None) -> np.ndarray:
        """The values (examples, keys) of several keys, of all if omitted."""
        chosen = self.keys if keys is None else keys
        return self._read([self._index[key] for key in chosen])

    def blocks(self) -> Iterator[tuple[tuple[Key, ...], np.ndarray]]:
        """All columns, as many at a time as a fixed amount of memory holds: keys and values."""
        width = max(1, _BLOCK_BYTES // max(1, 8 * len(self)))
        for start in range(0, len(self.keys), width):
            keys = self.keys[start : start + width]
            yield keys, self.matrix(keys)

    def rows_of(self, audit: str, measure: str, metric: str) -> list[Key]:
        """The keys of one metric, one per attention row."""
        return list(self._rows.get((audit, measure, metric), ()))

    def long(self) -> pd.DataFrame:
        """One line per value, with the columns of `COLUMNS`: everything in memory."""
        count = len(self)
        if not self.keys:
            frame = self.examples.iloc[:0].copy()
        else:
            frame = pd.concat([self.examples] * len(self.keys), ignore_index=True)
        for position, name in enumerate(METRIC_KEY):
            labels = [key[position] for key in self.keys]
            categories = list(dict.fromkeys(labels))
            codes = np.repeat([categories.index(label) for label in labels], count)
            frame[name] = pd.Categorical.from_codes(codes.astype(np.int32), categories=categories)
        frame["row"] = np.repeat([key[3] for key in self.keys], count).astype(np.int32)
        frame["value"] = self.matrix().T.reshape(-1)
        return frame[list(COLUMNS)]


def by_id(ids: pd.Series) -> np.ndarray:
    """The order that sorts the ids, as text."""
    return ids.astype(str).argsort(kind="stable").to_numpy()
