"""Collects the values of audits from their tensors, batch by batch."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from attnaudit.core.contract import Record
from attnaudit.core.errors import InputError
from attnaudit.results.value_columns import Key, ValueColumns
from attnaudit.statistics.inference import benjamini_hochberg


class Table:
    """Collects values batch by batch; nothing is dropped, NaN included."""

    def __init__(self) -> None:
        self._examples: list[pd.DataFrame] = []
        self._columns: dict[Key, list[tuple[int, np.ndarray]]] = defaultdict(list)

    def audits(self) -> set[str]:
        """The audits that have any value so far."""
        return {audit for audit, *_ in self._columns}

    def start(self, record: Record) -> None:
        """Start a batch; `add` then fills it."""
        self._rows = record.mask.any(-1).cpu()  # (B,R) rows that have anything to attend to
        labels = record.batch.labels
        self._examples.append(
            pd.DataFrame(
                {
                    "example_id": record.batch.example_id,
                    "label": labels.cpu().numpy() if labels is not None else -1,
                    "predicted": record.predicted.cpu().numpy(),
                    "length": record.length.cpu().numpy(),
                }
            )
        )

    def add(self, audit: str, values: dict[Any, Tensor]) -> None:
        """Add the values of one audit for the batch that was started last.

        Parameters
        ----------
        audit : its name, with options.
        values : (measure, metric) or metric -> (B,) or (B,R).
        """
        batch = len(self._examples) - 1
        size = len(self._examples[-1])
        for key, tensor in values.items():
            measure, metric = ("", key) if isinstance(key, str) else key
            if tensor.dim() not in (1, 2) or tensor.shape[0] != size:
                raise InputError(
                    f"The audit {audit!r} must return values of shape (B,) or (B,R) with "
                    f"B = {size}; {metric!r} has shape {tuple(tensor.shape)}."
                )
            rows = tensor[:, None] if tensor.dim() == 1 else tensor
            # A value is undefined if the row, or the whole example, has nothing to attend to.
            by_row = tensor.dim() == 2 and rows.shape == self._rows.shape
            attends = self._rows if by_row else self._rows.any(-1, keepdim=True)
            defined = rows.detach().double().cpu().masked_fill(~attends, torch.nan)
            for row, column in enumerate(defined.unbind(1)):
                self._columns[audit, measure, metric, row].append((batch, column.numpy()))

    def examples(self) -> pd.DataFrame:
        """One line per example, in the order in which they were added."""
        return pd.concat(self._examples, ignore_index=True)

    def matrix(self) -> tuple[np.ndarray, list[Key]]:
        """The values (examples, keys) in the order of `examples`, and the keys."""
        sizes = [len(batch) for batch in self._examples]
        starts = np.cumsum([0, *sizes])
        matrix = np.full((starts[-1], len(self._columns)), np.nan)
        for index, column in enumerate(self._columns.values()):
            for batch, values in column:
                matrix[starts[batch] : starts[batch + 1], index] = values
        return matrix, list(self._columns)

    def columns(self) -> ValueColumns:
        """All values by column, with those that depend on all examples at once."""
        matrix, keys = self.matrix()
        judged = {
            family_key(key): significant_in_family(matrix[:, index])
            for index, key in enumerate(keys)
            if key[2] == P_VALUE
        }
        if judged:
            matrix = np.column_stack([matrix, *judged.values()])
        return ValueColumns.from_matrix(self.examples(), [*keys, *judged], matrix)


P_VALUE = "p"  # the metric of p-values, which are judged together


def family_key(key: Key) -> Key:
    """The key of the metric "significant_family" that belongs to a column of p-values."""
    return (key[0], key[1], "significant_family", key[3])


def significant_in_family(p_values: np.ndarray) -> np.ndarray:
    """Which p-values (examples,) hold up among all the examples': 1, 0, or NaN without one.

    Benjamini–Hochberg at 5 %.

    Examples
    --------
    >>> significant_in_family(np.array([0.001, 0.04, 0.9, np.nan])).tolist()
    [1.0, 0.0, 0.0, nan]
    """
    adjusted = benjamini_hochberg(torch.from_numpy(p_values))
    return torch.where(adjusted.isnan(), torch.nan, (adjusted <= 0.05).double()).numpy()
