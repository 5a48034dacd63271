"""Audits' tensors to one long table: example_id label predicted length audit measure metric row value."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from attnaudit.core.contract import Record
from attnaudit.core.errors import InputError
from attnaudit.statistics.inference import benjamini_hochberg

COLUMNS = (
    "example_id",
    "label",
    "predicted",
    "length",
    "audit",
    "measure",
    "metric",
    "row",
    "value",
)
Key = tuple[str, str, str, int]  # audit, measure, metric, row


class Table:
    """Collects batch by batch; nothing is dropped, NaN included."""

    def __init__(self) -> None:
        self._examples: list[pd.DataFrame] = []
        self._columns: dict[Key, list[tuple[int, np.ndarray]]] = defaultdict(list)

    def audits(self) -> set[str]:
        """Those with any value so far."""
        return {audit for audit, *_ in self._columns}

    def start(self, record: Record) -> None:
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
        """values: {(measure, metric) or metric: (B,) or (B,R)} for the batch last started."""
        batch = len(self._examples) - 1
        size = len(self._examples[-1])
        for key, tensor in values.items():
            measure, metric = ("", key) if isinstance(key, str) else key
            if tensor.dim() not in (1, 2) or tensor.shape[0] != size:
                raise InputError(
                    f"The audit {audit!r} must return values of shape (B,) or (B,R) with B = {size}; "
                    f"{metric!r} has shape {tuple(tensor.shape)}."
                )
            rows = tensor[:, None] if tensor.dim() == 1 else tensor
            # Where there is nothing to attend to, in a row or in the whole example, there is nothing to say.
            by_row = tensor.dim() == 2 and rows.shape == self._rows.shape
            attends = self._rows if by_row else self._rows.any(-1, keepdim=True)
            answered = rows.detach().double().cpu().masked_fill(~attends, torch.nan)
            for row, column in enumerate(answered.unbind(1)):
                self._columns[audit, measure, metric, row].append((batch, column.numpy()))

    def judge_families(self) -> None:
        """For every p-value, whether it stands among all the examples' (Benjamini–Hochberg at 5 %): metric "significant_family"."""
        for (audit, measure, metric, row), column in list(self._columns.items()):
            if metric == "p":
                together = torch.from_numpy(np.concatenate([values for _, values in column]))
                adjusted = benjamini_hochberg(together)
                stands = torch.where(
                    adjusted.isnan(), torch.nan, (adjusted <= 0.05).double()
                ).numpy()
                parts = np.split(stands, np.cumsum([len(values) for _, values in column])[:-1])
                self._columns[audit, measure, "significant_family", row] = [
                    (batch, part) for (batch, _), part in zip(column, parts, strict=True)
                ]

    def examples(self) -> pd.DataFrame:
        """One line an example, sorted by name."""
        together = pd.concat(self._examples, ignore_index=True)
        return together.sort_values("example_id", kind="stable", ignore_index=True)

    def wide(self) -> tuple[Tensor, list[Key]]:
        """(examples, columns) as a matrix in the order of examples(), and the key of each column."""
        sizes = [len(each) for each in self._examples]
        starts = np.cumsum([0, *sizes])
        matrix = np.full((starts[-1], len(self._columns)), np.nan)
        for at, column in enumerate(self._columns.values()):
            for batch, values in column:
                matrix[starts[batch] : starts[batch + 1], at] = values
        names = np.concatenate([each["example_id"].to_numpy() for each in self._examples])
        order = np.argsort(names.astype(str), kind="stable")
        return torch.from_numpy(matrix[order]), list(self._columns)

    def long(self) -> pd.DataFrame:
        """The stored form: one line a value."""
        examples, (matrix, keys) = self.examples(), self.wide()
        count = len(examples)
        frame = pd.concat([examples] * len(keys), ignore_index=True) if keys else examples.iloc[:0]
        for name, at in (("audit", 0), ("measure", 1), ("metric", 2)):
            labels = [key[at] for key in keys]
            kinds = list(dict.fromkeys(labels))
            codes = np.repeat([kinds.index(label) for label in labels], count)
            frame[name] = pd.Categorical.from_codes(codes.astype(np.int32), categories=kinds)
        frame["row"] = np.repeat([key[3] for key in keys], count).astype(np.int32)
        frame["value"] = matrix.numpy().T.reshape(-1)
        return frame[list(COLUMNS)]
