"""Means with intervals, floors and ceilings: overall and by predicted class, never one number without the others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from torch import Tensor

from attnaudit.audits.declaration import Declaration
from attnaudit.results.rows import EVERY_ROW
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
    """One line for each (audit, measure, metric, row, group): mean sd low high nan_share count floor ceiling relative compared."""
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
        frame = pd.DataFrame(keys, columns=["audit", "measure", "metric", "row"])
        frame["group"] = group
        frame["mean"], frame["low"], frame["high"] = (each.numpy() for each in interval[:3])
        frame["sd"] = _sd(part.numpy())
        frame["nan_share"] = interval.nan_share.numpy()
        frame["count"] = int(members.sum())
        frames.append(_with_bounds(frame, part.numpy(), keys, declarations))
    return pd.concat(frames, ignore_index=True)


def _with_row_means(matrix: Tensor, keys: list[Key]) -> tuple[Tensor, list[Key]]:
    """Add, for every metric that has several rows, its mean over them."""
    import torch

    rows: dict[tuple[str, str, str], list[int]] = {}
    for at, (audit, measure, metric, _) in enumerate(keys):
        rows.setdefault((audit, measure, metric), []).append(at)
    several = {key: at for key, at in rows.items() if len(at) > 1}
    means = [matrix[:, at].nanmean(1) for at in several.values()]
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
    """floor and ceiling of each declared metric, where they are metrics themselves over the examples that have the value too; and where the
    mean lies between them, 0 at the floor and 1 at the ceiling, over the examples that have all three: `compared` is their share of
    those that have the value."""
    place = {key: at for at, key in enumerate(keys)}

    def column(audit: str, bound: str | float, row: int) -> np.ndarray:
        if not isinstance(bound, str):
            return np.full(len(values), float(bound))
        metric, _, measure = bound.partition("@")
        # Of the same row, or of the example as a whole where it is not by row.
        at = place.get((audit, measure, metric, row), place.get((audit, measure, metric, 0)))
        return np.full(len(values), np.nan) if at is None else values[:, at]

    lines = []
    for at, (audit, _, metric, row) in enumerate(keys):
        value, declared = values[:, at], declarations[audit].metrics.get(metric)
        floor, ceiling = (
            np.full(len(values), np.nan) if declared is None else column(audit, bound, row)
            for bound in (
                (np.nan, np.nan) if declared is None else (declared.floor, declared.ceiling)
            )
        )
        known = np.isfinite(value)
        whole = known & np.isfinite(floor) & np.isfinite(ceiling)
        low, mean, high = (_mean(each[whole]) for each in (floor, value, ceiling))
        lines.append(
            {
                "floor": _mean(floor[known & np.isfinite(floor)]),
                "ceiling": _mean(ceiling[known & np.isfinite(ceiling)]),
                "relative": (mean - low) / (high - low)
                if high != low
                else np.nan,  # the ceiling is below where less is better
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
_COLUMNS = ["audit", "measure", "metric", "row", "group", *_STATISTICS]
