"""How much of the attention do the most attended words hold? Curves of concentration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from attnaudit.report.charts.bins import QUARTILES
from attnaudit.report.charts.kept_scores import kept_scores
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
    if not len(examples):
        return {}
    predicted = examples["predicted"].to_numpy()
    curves = _curves_by_measure(examples)
    # In the order of the first example that has one.
    curves = dict(sorted(curves.items(), key=lambda item: _first(item[1])))
    measures = {}
    for measure, table in curves.items():
        defined = ~np.isnan(table[:, 0])
        if not defined.any():
            continue
        measures[measure] = [
            {"class": group, "count": len(part), **_mean_and_quartiles(part)}
            for group, members in groups.items()
            if len(
                part := table[defined if members is None else defined & np.isin(predicted, members)]
            )
        ]
    if not measures:
        return {}
    return {"shares": [rounded(share) for share in SHARES], "measures": measures}


def _curves_by_measure(examples: pd.DataFrame) -> dict[str, np.ndarray]:
    """measure -> (examples, 21), NaN for an example without a curve."""
    # Scores of the same shape are computed together.
    alike: dict[tuple[str, int, int], list[tuple[int, Any]]] = {}
    for number, (count, named) in enumerate(kept_scores(examples)):
        for measure, values in named.items():
            alike.setdefault((measure, count, len(values)), []).append((number, values))
    curves: dict[str, np.ndarray] = {}
    for (measure, count, length), scores in alike.items():
        table = curves.setdefault(measure, np.full((len(examples), len(SHARES)), np.nan))
        if count < 2 or not length:
            continue
        numbers = [number for number, _ in scores]
        table[numbers] = _curves(np.array([values for _, values in scores], dtype=float), count)
    return curves


def _curves(scores: np.ndarray, count: int) -> np.ndarray:
    """(n, 21) of scores (n, rows · count); NaN if one is undefined, or if all weights are 0."""
    curves = np.full((len(scores), len(SHARES)), np.nan)
    defined = np.isfinite(scores).all(1) & scores.any(1)
    # The mean first: a row may cover only some of the words.
    sizes = np.abs(scores[defined]).reshape(-1, scores.shape[1] // count, count).mean(1)
    held = np.zeros((len(sizes), count + 1))
    np.cumsum(-np.sort(-sizes, axis=1), axis=1, out=held[:, 1:])
    curves[defined] = _at_shares(held / held[:, -1:])
    return curves


def _at_shares(held: np.ndarray) -> np.ndarray:
    """(n, 21): what is held at each of SHARES, between the words by linear interpolation."""
    count = held.shape[1] - 1
    words = np.arange(count + 1) / count
    place = np.searchsorted(words, SHARES, side="right") - 1
    low = np.minimum(place, count - 1)
    slope = (held[:, low + 1] - held[:, low]) / (words[low + 1] - words[low])
    between = slope * (SHARES - words[low]) + held[:, low]
    return np.where(words[place] == SHARES, held[:, place], between)


def _first(table: np.ndarray) -> int:
    """The first example with a curve; the number of examples if there is none."""
    defined = np.flatnonzero(~np.isnan(table[:, 0]))
    return int(defined[0]) if len(defined) else len(table)


def _mean_and_quartiles(curves: np.ndarray) -> dict[str, list[float | None]]:
    low, _, high = np.quantile(curves, QUARTILES, axis=0)
    parts = {"mean": curves.mean(0), "low": low, "high": high}
    return {name: [rounded(value, 4) for value in values] for name, values in parts.items()}
