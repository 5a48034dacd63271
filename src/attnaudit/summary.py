"""Means with intervals, floors and ceilings: overall and by predicted class, never one number without the others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from torch import Tensor

from attnaudit.audits.declaration import Declaration
from attnaudit.statistics import bootstrap
from attnaudit.tables import Key

ALL = "all"
EVERY_ROW = -1  # the mean over rows, where a site has several


def summarise(
    matrix: Tensor,
    keys: list[Key],
    predicted: np.ndarray,
    classes: list[str],
    declarations: Mapping[str, Declaration],
    *,
    seed: int = 0,
) -> pd.DataFrame:
    """One line for each (audit, measure, metric, row, group): mean sd low high nan_share count floor ceiling relative."""
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
        frames.append(_with_bounds(frame, declarations))
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


def _with_bounds(frame: pd.DataFrame, declarations: Mapping[str, Declaration]) -> pd.DataFrame:
    """floor and ceiling of each declared metric, read off the same group where they are metrics themselves; and where the mean lies
    between them, 0 at the floor and 1 at the ceiling."""
    means = {tuple(key): mean for *key, mean in zip(*(frame[name] for name in _BY), strict=True)}
    bounds: dict[str, list[float]] = {"floor": [], "ceiling": []}
    for audit, metric, row in zip(frame["audit"], frame["metric"], frame["row"], strict=True):
        declared = declarations[audit].metrics.get(metric)
        for name, column in bounds.items():
            bound = getattr(declared, name) if declared is not None else np.nan
            if isinstance(bound, str):
                metric_name, _, measure = bound.partition("@")
                # Of the same row, or of the example as a whole where it is not by row.
                bound = means.get(
                    (audit, measure, metric_name, row), means.get((audit, measure, metric_name, 0), np.nan)
                )
            column.append(float(bound))
    frame = frame.assign(**bounds)
    room = (frame["ceiling"] - frame["floor"]).where(lambda gap: gap != 0)  # negative where less is better
    return frame.assign(relative=(frame["mean"] - frame["floor"]) / room)


_BY = ("audit", "measure", "metric", "row", "mean")
_STATISTICS = ("mean", "low", "high", "sd", "nan_share", "count", "floor", "ceiling", "relative")
_COLUMNS = [*_BY[:4], "group", *_STATISTICS]
