"""How much of the attention do the most attended words hold? Curves of concentration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.report.charts.bins import QUARTILES, sorted_quantiles
from attnaudit.report.charts.kept_scores import ScoreBlock, score_blocks
from attnaudit.report.inline_data import rounded, rounded_all

SHARES = np.linspace(0, 1, 21)  # of the words, the highest first


def concentration(
    examples: pd.DataFrame,
    groups: dict[int, list[int] | None],
    blocks: Sequence[ScoreBlock] | None = None,
) -> dict[str, Any]:
    """Per measure and group: mean and quartiles of the share of the total that the top words hold.

    On the diagonal all words have the same weight; a curve that reaches 1 early is sparse. Scores
    are taken by their absolute value, the mean over attention rows.

    Parameters
    ----------
    examples
        Those that were kept whole.
    groups
        Number of a group -> predicted classes in it; None for all.
    blocks
        `score_blocks(examples)`, if they are at hand.
    """
    if not len(examples):
        return {}
    predicted = examples["predicted"].to_numpy()
    curves = _curves_by_measure(len(examples), score_blocks(examples) if blocks is None else blocks)
    # In the order of the first example that has one.
    curves = dict(sorted(curves.items(), key=lambda item: _first(item[1])))
    measures: dict[str, list[dict[str, Any]]] = {}
    for group, members in groups.items():
        wanted = None if members is None else np.isin(predicted, members)
        for measure, line in _lines(curves, wanted).items():
            measures.setdefault(measure, []).append({"class": group, **line})
    # The order of the measures is that of the curves, whatever group has them first.
    measures = {measure: measures[measure] for measure in curves if measure in measures}
    if not measures:
        return {}
    return {"shares": [rounded(share) for share in SHARES], "measures": measures}


def _lines(curves: dict[str, np.ndarray], wanted: np.ndarray | None) -> dict[str, dict[str, Any]]:
    """measure -> count, mean and quartiles over the wanted examples, unless there are none."""
    # Measures that are defined for the same examples are computed together.
    alike: dict[bytes, tuple[np.ndarray, list[str]]] = {}
    for measure, table in curves.items():
        chosen = ~np.isnan(table[:, 0])
        chosen = chosen if wanted is None else chosen & wanted
        alike.setdefault(chosen.tobytes(), (chosen, []))[1].append(measure)
    lines: dict[str, dict[str, Any]] = {}
    for chosen, measures in alike.values():
        count = int(chosen.sum())
        if not count:
            continue
        part = np.concatenate([curves[measure][chosen] for measure in measures], axis=1)
        # Of a transposed copy: along the rows of an array it takes half the time.
        low, _, high = sorted_quantiles(np.sort(part.T, axis=1), QUARTILES)
        parts = {"mean": part.mean(0), "low": low, "high": high}
        rounded_parts = {name: rounded_all(values) for name, values in parts.items()}
        for index, measure in enumerate(measures):
            own = slice(index * len(SHARES), (index + 1) * len(SHARES))
            curve = {name: values[own] for name, values in rounded_parts.items()}
            lines[measure] = {"count": count, **curve}
    return lines


def _curves_by_measure(count: int, blocks: Sequence[ScoreBlock]) -> dict[str, np.ndarray]:
    """measure -> (examples, 21), NaN for an example without a curve."""
    curves: dict[str, np.ndarray] = {}
    for block in blocks:
        for measure in block.scores:
            if measure not in curves:
                curves[measure] = np.full((count, len(SHARES)), np.nan)
        if block.words < 2:
            continue
        # Scores of the same shape are computed together.
        by_length: dict[int, list[str]] = {}
        for measure, scores in block.scores.items():
            by_length.setdefault(scores.shape[1], []).append(measure)
        for length, measures in by_length.items():
            if not length:
                continue
            together = np.concatenate([block.scores[measure] for measure in measures])
            found = _curves(together, block.words).reshape(len(measures), -1, len(SHARES))
            for measure, table in zip(measures, found, strict=True):
                curves[measure][block.numbers] = table
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
