"""How attention rows are averaged, and which row stands for a whole example.

A metric that is computed per row is also summarised as the mean over rows, stored as row
`EVERY_ROW`. That mean stands for the example wherever one number is wanted: on the card, in
comparisons and in tables.

Stored metrics are averaged here; the audits `furthest` and `stability` average distances over rows
before they are stored. The weights and scores of items, (rows, items), are averaged elsewhere, each
for its own purpose: `audits.heatmap` (the attention people are shown, which the card is about),
`audits.per_row.mean_score_over_rows` (one ranking per example, by the plain mean),
`measures.head_mean` and `models.huggingface.rollout` (attention, over the rows that attend to
anything), `report/charts/concentration.py` (sizes, the mean of absolute values) and `meanOf` in
`report/static/unpack.js` (the heatmap of all rows, undefined scores left out).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

EVERY_ROW = -1  # the mean over rows, if a site has several
METRIC_KEY = ["audit", "measure", "metric"]  # the columns that identify a metric


def mean_over_rows(values: Any) -> Any:
    """The mean over rows of each example, undefined values left out.

    Parameters
    ----------
    values : (examples, rows), a torch tensor or a numpy array; NaN where a row has no value.

    Returns
    -------
    (examples,) of the same type; NaN for an example without any value.

    Examples
    --------
    >>> mean_over_rows(np.array([[1.0, 3.0], [np.nan, 5.0]])).tolist()
    [2.0, 5.0]
    """
    if not isinstance(values, np.ndarray):
        return values.nanmean(1)  # a torch tensor
    count, rows = values.shape
    return mean_by_example(np.repeat(np.arange(count), rows), values.ravel(), count)


def mean_by_example(example: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """The mean over rows from a long table, one line per example and row.

    Parameters
    ----------
    example : (lines,) the number of each line's example, below `count`.
    values : (lines,) NaN where a row has no value.
    count : number of examples.

    Returns
    -------
    (count,) NaN for an example without any value.

    Examples
    --------
    >>> mean_by_example(np.array([0, 0, 1]), np.array([1.0, 3.0, 5.0]), 2).tolist()
    [2.0, 5.0]
    """
    known = ~np.isnan(values)
    rows = np.bincount(example[known], minlength=count)
    total = np.bincount(example[known], weights=values[known], minlength=count)
    return np.where(rows > 0, total / np.maximum(rows, 1), np.nan)


def one_line_per_metric(lines: pd.DataFrame) -> pd.DataFrame:
    """Of the lines that differ only in `row`, keep the one that stands for the whole example.

    That is the mean over rows if there are several, and the only row otherwise.

    Parameters
    ----------
    lines : with the columns audit, measure, metric, row and, in a summary, group.

    Examples
    --------
    >>> lines = pd.DataFrame({"audit": "a", "measure": "", "metric": ["x", "x", "x", "y"],
    ...                       "row": [0, 1, EVERY_ROW, 0]})
    >>> one_line_per_metric(lines)[["metric", "row"]].values.tolist()
    [['x', -1], ['y', 0]]
    """
    keys = [*METRIC_KEY, "group"] if "group" in lines else METRIC_KEY
    metrics = list(zip(*(lines[key].to_numpy() for key in keys), strict=True))
    rows = lines["row"].tolist()
    lowest: dict[tuple[Any, ...], int] = {}
    for metric, row in zip(metrics, rows, strict=True):
        lowest[metric] = min(row, lowest.get(metric, row))
    stands = [lowest[metric] == row for metric, row in zip(metrics, rows, strict=True)]
    return lines[np.array(stands, dtype=bool)]


def has_several_rows(lines: pd.DataFrame) -> pd.Series:
    """For each line, whether its metric has more than one row (the mean over rows aside)."""
    rows = lines["row"].where(lines["row"] != EVERY_ROW)
    return rows.groupby([lines[key] for key in METRIC_KEY], observed=True).transform("nunique") > 1
