"""Means with intervals, floors and ceilings, over all examples and by predicted class."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from attnaudit.audits.declaration import Declaration
from attnaudit.results.rows import EVERY_ROW, METRIC_KEY, mean_over_rows
from attnaudit.results.value_table import Key
from attnaudit.statistics import bootstrap

ALL = "all"


def summarise(
    matrix: Tensor,
    keys: list[Key],
    predicted: np.ndarray,
    classes: list[str],
    declarations: Mapping[str, Declaration],
    *,
    seed: int = 0,
) -> pd.DataFrame:
    """Summarise each column of a matrix, over all examples and by predicted class.

    Parameters
    ----------
    matrix : (examples, columns) NaN where a value is undefined.
    keys : (audit, measure, metric, row) of each column.
    predicted : (examples,) the predicted class of each example.
    classes : the name of each class.
    declarations : per audit, the floors and ceilings of its metrics.
    seed : of the bootstrap.

    Returns
    -------
    One line per audit, measure, metric, row and group, with the columns mean, low, high, sd,
    nan_share, count, floor, ceiling, relative and compared. A metric with several rows also gets
    their mean, as row -1.

    Examples
    --------
    >>> import torch
    >>> values, keys = torch.tensor([[0.25], [0.75]]), [("mine", "", "number", 0)]
    >>> declared = {"mine": Declaration("", {})}
    >>> summary = summarise(values, keys, np.array([0, 1]), ["no", "yes"], declared)
    >>> summary[["group", "mean", "count"]].values.tolist()
    [['all', 0.5, 2], ['no', 0.25, 1], ['yes', 0.75, 1]]
    """
    if not keys:
        return pd.DataFrame(columns=_COLUMNS)
    matrix, keys = _with_row_means(matrix, keys)
    groups = {ALL: np.ones(len(predicted), dtype=bool)}
    groups |= {name: predicted == number for number, name in enumerate(classes)}
    frames = []
    for group, members in groups.items():
        if not members.any():
            continue
        part = matrix[members]
        interval = bootstrap(part, seed=seed)
        frame = pd.DataFrame(keys, columns=[*METRIC_KEY, "row"])
        frame["group"] = group
        frame["mean"], frame["low"], frame["high"] = (ends.numpy() for ends in interval[:3])
        frame["sd"] = _sd(part.numpy())
        frame["nan_share"] = interval.nan_share.numpy()
        frame["count"] = int(members.sum())
        frames.append(_with_bounds(frame, part.numpy(), keys, declarations))
    return pd.concat(frames, ignore_index=True)


def _with_row_means(matrix: Tensor, keys: list[Key]) -> tuple[Tensor, list[Key]]:
    """Add a column with the mean over rows of every metric that has several."""
    columns: dict[tuple[str, str, str], list[int]] = {}
    for index, (audit, measure, metric, _) in enumerate(keys):
        columns.setdefault((audit, measure, metric), []).append(index)
    several = {key: indices for key, indices in columns.items() if len(indices) > 1}
    means = [mean_over_rows(matrix[:, indices]) for indices in several.values()]
    added: list[Key] = [(*key, EVERY_ROW) for key in several]
    return torch.cat([matrix, *(mean[:, None] for mean in means)], 1), [*keys, *added]


def _sd(values: np.ndarray) -> np.ndarray:
    """Sample standard deviation of the defined values; NaN with fewer than two."""
    known = np.isfinite(values)
    count = known.sum(0)
    filled = np.where(known, values, 0.0)
    mean = filled.sum(0) / np.maximum(count, 1)
    squares = (np.where(known, values - mean, 0.0) ** 2).sum(0)
    return np.where(count > 1, np.sqrt(squares / np.maximum(count - 1, 1)), np.nan)


def _with_bounds(
    frame: pd.DataFrame,
    values: np.ndarray,
    keys: list[Key],
    declarations: Mapping[str, Declaration],
) -> pd.DataFrame:
    """Add floor, ceiling, relative and compared of each declared metric.

    A floor or ceiling that is a metric is its mean over the examples that have the value too.
    `relative` is where the mean lies between them, 0 at the floor and 1 at the ceiling, over the
    examples that have all three; `compared` is the share of these among those that have the value.
    """
    index_of = {key: index for index, key in enumerate(keys)}

    def column(audit: str, bound: str | float, row: int) -> np.ndarray:
        if not isinstance(bound, str):
            return np.full(len(values), float(bound))
        metric, _, measure = bound.partition("@")
        # Of the same row, or of the whole example if the bound is not computed per row.
        whole = index_of.get((audit, measure, metric, 0))
        index = index_of.get((audit, measure, metric, row), whole)
        return np.full(len(values), np.nan) if index is None else values[:, index]

    lines = []
    for index, (audit, _, metric, row) in enumerate(keys):
        value, declared = values[:, index], declarations[audit].metrics.get(metric)
        bounds = (np.nan, np.nan) if declared is None else (declared.floor, declared.ceiling)
        floor, ceiling = (column(audit, bound, row) for bound in bounds)
        known = np.isfinite(value)
        whole = known & np.isfinite(floor) & np.isfinite(ceiling)
        low, mean, high = (_mean(part[whole]) for part in (floor, value, ceiling))
        lines.append(
            {
                "floor": _mean(floor[known & np.isfinite(floor)]),
                "ceiling": _mean(ceiling[known & np.isfinite(ceiling)]),
                # The ceiling is below the floor if lower is better.
                "relative": (mean - low) / (high - low) if high != low else np.nan,
                "compared": whole.sum() / known.sum() if known.any() else np.nan,
            }
        )
    return frame.assign(**pd.DataFrame(lines, index=frame.index))


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else np.nan


_STATISTICS = (
    "mean",
    "low",
    "high",
    "sd",
    "nan_share",
    "count",
    "floor",
    "ceiling",
    "relative",
    "compared",
)
_COLUMNS = [*METRIC_KEY, "row", "group", *_STATISTICS]
