"""A summary in blocks of columns has the lines of one block, in the same order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

from attnaudit.audits.declaration import Declaration, Metric
from attnaudit.results import column_summary
from attnaudit.results.column_summary import summarise_columns
from attnaudit.results.summary import summarise
from attnaudit.results.value_columns import Key, ValueColumns

EXAMPLES = 12
CLASSES = ["no", "yes"]
# Floor and ceiling of `tau` are other columns, which stand far from it.
DECLARED = {
    "tau_like": Declaration(
        question="?",
        metrics={"tau": Metric("", "tau@random", "tau@between"), "reach": Metric("", 0.0, 2.0)},
    ),
    "plain": Declaration(question="?", metrics={"number": Metric("", 0.25, "top")}),
}
KEYS: list[Key] = [
    *(("tau_like", "gradient", "tau", row) for row in range(3)),
    *(("tau_like", "", "reach", row) for row in range(2)),
    ("plain", "", "number", 0),
    ("plain", "", "empty", 0),
    *(("tau_like", "random", "tau", row) for row in range(3)),
    ("plain", "", "top", 0),
    ("tau_like", "between", "tau", 0),
]


def columns() -> ValueColumns:
    """Values with NaN among them, and a column of nothing else."""
    draw = np.random.default_rng(0)
    matrix = draw.gamma(2.0, size=(EXAMPLES, len(KEYS)))
    matrix[draw.random(matrix.shape) < 0.2] = np.nan
    matrix[:, KEYS.index(("plain", "", "empty", 0))] = np.nan
    examples = pd.DataFrame(
        {
            "example_id": [f"{number:02d}" for number in range(EXAMPLES)],
            "label": draw.integers(-1, 2, size=EXAMPLES),
            "predicted": draw.integers(0, 2, size=EXAMPLES),
            "length": 3,
        }
    )
    return ValueColumns.from_matrix(examples, KEYS, matrix)


def at_once(values: ValueColumns) -> pd.DataFrame:
    predicted, labels = (values.examples[name].to_numpy() for name in ("predicted", "label"))
    matrix = torch.from_numpy(values.matrix())
    return summarise(matrix, KEYS, predicted, CLASSES, DECLARED, labels=labels, seed=1)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 7, 100])  # columns per block
def test_blocks_give_the_lines_of_one_block(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = columns()
    monkeypatch.setattr(column_summary, "_BLOCK_BYTES", 8 * EXAMPLES * width)
    blocks = list(column_summary._blocks(values, width))
    assert (len(blocks) > 1) == (width < len(KEYS))
    pd.testing.assert_frame_equal(
        summarise_columns(values, CLASSES, DECLARED, seed=1),
        at_once(values),
        rtol=1e-12,
        atol=1e-12,
    )


def test_only_a_few_columns_are_read_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    values = columns()
    read, widths = values._read, list[int]()

    def counted(indices: list[int]) -> np.ndarray:
        widths.append(len(indices))
        return read(indices)

    values._read = counted
    monkeypatch.setattr(column_summary, "_BLOCK_BYTES", 8 * EXAMPLES * 3)
    summarise_columns(values, CLASSES, DECLARED)
    # Three columns, and the floor (three rows) and the ceiling (one) of the metric among them.
    assert max(widths) == 3 + 3 + 1
    assert len(widths) > 3


def test_no_columns_and_no_examples_give_an_empty_summary() -> None:
    values = columns()
    empty = ValueColumns.from_matrix(values.examples, [], np.empty((EXAMPLES, 0)))
    nobody = ValueColumns.from_matrix(values.examples[:0], KEYS, np.empty((0, len(KEYS))))
    for without in (empty, nobody):
        summary = summarise_columns(without, CLASSES, DECLARED)
        assert len(summary) == 0
        assert list(summary.columns) == list(at_once(values).columns)
