"""How much of the attention do the most attended words hold? Curves of concentration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from attnaudit.report.charts.bins import QUARTILES
from attnaudit.report.inline_data import rounded

SHARES = np.linspace(0, 1, 21)  # of the words, the highest first


def concentration(examples: pd.DataFrame, groups: dict[int, list[int] | None]) -> dict[str, Any]:
    """Per measure and group: mean and quartiles of the share of the total that the top words hold.

    On the diagonal all words have the same weight; a curve that reaches 1 early is sparse. Scores
    are taken by their absolute value, the mean over attention rows.

    Parameters
    ----------
    examples
        Those that were kept whole.
    groups
        Number of a group -> predicted classes in it; None for all.
    """
    curves: dict[str, list[np.ndarray]] = {}
    predicted: dict[str, list[int]] = {}
    for line in examples.itertuples():
        scores = {
            "attention": line.attention,
            **{score["measure"]: score["values"] for score in line.scores},
        }
        for measure, values in scores.items():
            curve = _curve(np.asarray(values, dtype=float), len(line.tokens))
            if curve is not None:
                curves.setdefault(measure, []).append(curve)
                predicted.setdefault(measure, []).append(line.predicted)
    measures = {}
    for measure, rows in curves.items():
        table, classes = np.stack(rows), np.array(predicted[measure])
        measures[measure] = [
            {"class": group, "count": len(part), **_mean_and_quartiles(part)}
            for group, members in groups.items()
            if len(part := table if members is None else table[np.isin(classes, members)])
        ]
    if not measures:
        return {}
    return {"shares": [rounded(share) for share in SHARES], "measures": measures}


def _curve(scores: np.ndarray, count: int) -> np.ndarray | None:
    """(21,); None with fewer than two words, or if all weights are 0."""
    if count < 2 or not len(scores) or not np.isfinite(scores).all():
        return None
    # The mean first: a row may cover only some of the words.
    sizes = np.abs(scores).reshape(-1, count).mean(0)
    if sizes.sum() == 0:
        return None
    held = np.concatenate([[0.0], np.cumsum(-np.sort(-sizes))])
    return np.interp(SHARES, np.arange(count + 1) / count, held / held[-1])


def _mean_and_quartiles(curves: np.ndarray) -> dict[str, list[float | None]]:
    low, _, high = np.quantile(curves, QUARTILES, axis=0)
    parts = {"mean": curves.mean(0), "low": low, "high": high}
    return {name: [rounded(value, 4) for value in values] for name, values in parts.items()}
