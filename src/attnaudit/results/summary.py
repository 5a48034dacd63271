"""Means with intervals, floors and ceilings, over all examples and in every group of them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from attnaudit.audits.declaration import Declaration
from attnaudit.results.groups import make_groups
from attnaudit.results.rows import EVERY_ROW, METRIC_KEY, mean_over_rows
from attnaudit.results.value_columns import Key
from attnaudit.statistics import Interval, bootstrap
from attnaudit.statistics.interval_kinds import describe_interval
from attnaudit.statistics.relative import relative_interval

_CHUNK = 64  # columns whose bounds are held at once


def summarise(
    matrix: Tensor,
    keys: list[Key],
    predicted: np.ndarray,
    classes: list[str],
    declarations: Mapping[str, Declaration],
    *,
    seed: int = 0,
    labels: np.ndarray | None = None,
) -> pd.DataFrame:
    """Summarise each column of a matrix, in every group of `groups.make_groups`.

    Parameters
    ----------
    matrix : (examples, columns) NaN where a value is undefined.
    keys : (audit, measure, metric, row) of each column.
    predicted : (examples,) the predicted class of each example.
    classes : the name of each class.
    declarations : per audit, the floors and ceilings of its metrics.
    seed : of the bootstrap.
    labels : (examples,) the true class of each example, negative where it is unknown; with them,
        right and wrong decisions are groups, too.

    Returns
    -------
    One line per audit, measure, metric, row and group, with the columns mean, low, high, interval
    (how low and high were made, or why they are withheld), sd, nan_share, count, floor, ceiling,
    relative, relative_low, relative_high, relative_interval and compared. A metric with several
    rows also gets their mean, as row -1.

    Examples
    --------
    >>> import torch
    >>> values, keys = torch.tensor([[0.25], [0.75]]), [("mine", "", "number", 0)]
    >>> declared = {"mine": Declaration("", {})}
    >>> summary = summarise(values, keys, np.array([0, 1]), ["no", "yes"], declared)
    >>> summary[["group", "mean", "count"]].values.tolist()
    [['all', 0.5, 2], ['no', 0.25, 1], ['yes', 0.75, 1]]
    """
    if not keys or not len(matrix):
        return pd.DataFrame(columns=_COLUMNS)
    matrix, keys = _with_row_means(matrix, keys)
    limits, bounds = _limits(keys, declarations), _bound_columns(keys, declarations)
    groups = make_groups(predicted, labels, classes)
    parts = []
    for members in groups.values():
        part = matrix[members].double()
        interval = bootstrap(part, limits=limits, seed=seed)
        parts.append(
            {
                **dict(zip(("mean", "low", "high"), map(Tensor.numpy, interval[:3]), strict=True)),
                "interval": _in_words(interval.kind),
                "sd": _sd(part.numpy()),
                "nan_share": interval.nan_share.numpy(),
                "count": np.full(len(keys), int(members.sum())),
                **_with_bounds(part, bounds, interval, seed),
            }
        )
    of_key = zip((*METRIC_KEY, "row"), zip(*keys, strict=True), strict=True)
    columns = {
        **{name: [*values] * len(groups) for name, values in of_key},
        "group": np.repeat(np.array([*groups], dtype=object), len(keys)),
        **_joined(parts),
    }
    return pd.DataFrame(columns, columns=_COLUMNS)  # one table: to add columns to many takes longer


def _limits(keys: list[Key], declarations: Mapping[str, Declaration]) -> Tensor:
    """The smallest and largest possible value of each column, (columns, 2); NaN if unknown."""
    declared = [declarations[audit].metrics.get(metric) for audit, _, metric, _ in keys]
    known = [None if metric is None else metric.limits for metric in declared]
    return torch.tensor(
        [(torch.nan, torch.nan) if limits is None else limits for limits in known],
        dtype=torch.float64,
    )


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


def _bound_columns(
    keys: list[Key], declarations: Mapping[str, Declaration]
) -> tuple[Tensor, Tensor]:
    """Where floors and ceilings are: columns of the matrix, (2, columns), and numbers, likewise.

    The column is -1 if the bound is a number, which is NaN if it is not known.
    """
    index_of = {key: index for index, key in enumerate(keys)}

    def place(audit: str, bound: str | float, row: int) -> tuple[int, float]:
        if not isinstance(bound, str):
            return -1, float(bound)
        metric, _, measure = bound.partition("@")
        # Of the same row, or of the whole example if the bound is not computed per row.
        whole = index_of.get((audit, measure, metric, 0), -1)
        return index_of.get((audit, measure, metric, row), whole), math.nan

    places = []
    for audit, _, metric, row in keys:
        declared = declarations[audit].metrics.get(metric)
        known = (math.nan, math.nan) if declared is None else (declared.floor, declared.ceiling)
        places.append([place(audit, bound, row) for bound in known])
    columns, numbers = torch.tensor(places, dtype=torch.float64).unbind(-1)  # (columns, 2) each
    return columns.T.long(), numbers.T


def _with_bounds(
    values: Tensor, bounds: tuple[Tensor, Tensor], interval: Interval, seed: int
) -> dict[str, np.ndarray]:
    """Floor, ceiling, relative with its interval, and compared of each declared metric.

    A floor or ceiling that is a metric is its mean over the examples that have the value too.
    `relative` is where the mean lies between them, 0 at the floor and 1 at the ceiling, over the
    examples that have all three; `compared` is the share of these among those that have the value.

    Parameters
    ----------
    values : (members of a group, columns)
    bounds : from `_bound_columns`.
    """
    parts = []
    for start in range(0, values.shape[1], _CHUNK):  # to bound the memory
        chunk = slice(start, start + _CHUNK)
        floor, ceiling = (
            torch.where(column >= 0, values[:, column.clamp_min(0)], number)
            for column, number in zip(*(part[:, chunk] for part in bounds), strict=True)
        )
        of_chunk = Interval(*(part[chunk] for part in interval))
        parts.append(_between(values[:, chunk], floor, ceiling, of_chunk, seed))
    return _joined(parts)


def _between(
    value: Tensor, floor: Tensor, ceiling: Tensor, interval: Interval, seed: int
) -> dict[str, np.ndarray]:
    known = value.isfinite()
    place = relative_interval(value, floor, ceiling, interval, seed=seed)
    whole = known & floor.isfinite() & ceiling.isfinite()
    compared = whole.sum(0) / known.sum(0)
    # A floor that is the ceiling leaves no place between them.
    relative, low, high = (part.masked_fill(~part.isfinite(), torch.nan) for part in place[:3])
    return {
        "floor": floor.masked_fill(~known, torch.nan).nanmean(0).numpy(),
        "ceiling": ceiling.masked_fill(~known, torch.nan).nanmean(0).numpy(),
        "relative": relative.numpy(),
        "relative_low": low.numpy(),
        "relative_high": high.numpy(),
        "relative_interval": _in_words(place.kind),
        "compared": compared.numpy(),
    }


def _in_words(kinds: Tensor) -> np.ndarray:
    return np.array([describe_interval(kind) for kind in kinds.tolist()], dtype=object)


def _joined(parts: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


_STATISTICS = (
    "mean",
    "low",
    "high",
    "interval",
    "sd",
    "nan_share",
    "count",
    "floor",
    "ceiling",
    "relative",
    "relative_low",
    "relative_high",
    "relative_interval",
    "compared",
)
_COLUMNS = [*METRIC_KEY, "row", "group", *_STATISTICS]
