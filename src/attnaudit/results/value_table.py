"""The table of all values, collected from the audits' tensors batch by batch."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from attnaudit.core.contract import Record
from attnaudit.core.errors import InputError
from attnaudit.results.rows import METRIC_KEY
from attnaudit.statistics.inference import benjamini_hochberg

COLUMNS = (
    "example_id",
    "label",
    "predicted",
    "length",
    *METRIC_KEY,
    "row",
    "value",
)
Key = tuple[str, str, str, int]  # audit, measure, metric, row


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

    def judge_families(self) -> None:
        """Add the metric "significant_family": which p-values hold up among all the examples'.

        Benjamini–Hochberg at 5 %.
        """
        for (audit, measure, metric, row), column in list(self._columns.items()):
            if metric == "p":
                p_values = torch.from_numpy(np.concatenate([values for _, values in column]))
                adjusted = benjamini_hochberg(p_values)
                significant = torch.where(
                    adjusted.isnan(), torch.nan, (adjusted <= 0.05).double()
                ).numpy()
                parts = np.split(significant, np.cumsum([len(values) for _, values in column])[:-1])
                self._columns[audit, measure, "significant_family", row] = [
                    (batch, part) for (batch, _), part in zip(column, parts, strict=True)
                ]

    def examples(self) -> pd.DataFrame:
        """One line per example, sorted by example_id."""
        examples = pd.concat(self._examples, ignore_index=True)
        return examples.sort_values("example_id", kind="stable", ignore_index=True)

    def wide(self) -> tuple[Tensor, list[Key]]:
        """The matrix (examples, columns) in the order of `examples()`, and each column's key."""
        sizes = [len(batch) for batch in self._examples]
        starts = np.cumsum([0, *sizes])
        matrix = np.full((starts[-1], len(self._columns)), np.nan)
        for index, column in enumerate(self._columns.values()):
            for batch, values in column:
                matrix[starts[batch] : starts[batch + 1], index] = values
        names = np.concatenate([batch["example_id"].to_numpy() for batch in self._examples])
        order = np.argsort(names.astype(str), kind="stable")
        return torch.from_numpy(matrix[order]), list(self._columns)

    def long(self) -> pd.DataFrame:
        """The stored form: one line per value, with the columns of `COLUMNS`."""
        examples, (matrix, keys) = self.examples(), self.wide()
        count = len(examples)
        frame = pd.concat([examples] * len(keys), ignore_index=True) if keys else examples.iloc[:0]
        for position, name in enumerate(METRIC_KEY):
            labels = [key[position] for key in keys]
            categories = list(dict.fromkeys(labels))
            codes = np.repeat([categories.index(label) for label in labels], count)
            frame[name] = pd.Categorical.from_codes(codes.astype(np.int32), categories=categories)
        frame["row"] = np.repeat([key[3] for key in keys], count).astype(np.int32)
        frame["value"] = matrix.numpy().T.reshape(-1)
        return frame[list(COLUMNS)]
