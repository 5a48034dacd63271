"""Do the measures rank the words alike? Kendall's tau-b of every two of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.report.charts.kept_scores import kept_scores
from attnaudit.report.inline_data import rounded

LONGEST = 500  # words; all pairs of a longer text would take long, and add little
_AT_ONCE = 2**21  # signs of pairs of words that are held in memory


def measure_matrix(examples: pd.DataFrame) -> dict[str, Any]:
    """Names of the measures, the mean tau of each two, and over how many examples it is defined.

    Over the examples that were kept whole, of sites with one attention row.
    """
    alike = _alike(examples)
    names = list(dict.fromkeys(name for _, measures in alike for name in measures))
    # Two measures -> (number of the example, tau), from every group of examples alike.
    taus: dict[tuple[str, str], list[tuple[np.ndarray, np.ndarray]]] = {}
    for (_, measures), lines in alike.items():
        numbers = np.array([number for number, _ in lines])
        matrix = np.concatenate(list(_taus([scores for _, scores in lines])))
        for i, a in enumerate(measures):
            for j in range(i + 1, len(measures)):
                taus.setdefault((a, measures[j]), []).append((numbers, matrix[:, i, j]))
    cells = []
    for (a, b), parts in taus.items():
        order = np.concatenate([numbers for numbers, _ in parts]).argsort()
        values = np.concatenate([tau for _, tau in parts])[order]
        known = values[~np.isnan(values)]
        if len(known):
            cells.append({"a": a, "b": b, "tau": rounded(known.mean()), "count": len(known)})
    used = sum(map(len, alike.values()))
    return {"names": names, "cells": cells, "examples": used, "longest": LONGEST} if cells else {}


def _alike(
    examples: pd.DataFrame,
) -> dict[tuple[int, tuple[str, ...]], list[tuple[int, list[Any]]]]:
    """(number of words, measures) -> the examples that have them: (number, scores)."""
    alike: dict[tuple[int, tuple[str, ...]], list[tuple[int, list[Any]]]] = {}
    for number, (count, named) in enumerate(kept_scores(examples)):
        if not 2 <= count <= LONGEST:
            continue
        whole = {name: values for name, values in named.items() if len(values) == count}
        if "attention" in whole:
            alike.setdefault((count, tuple(whole)), []).append((number, list(whole.values())))
    return alike


def _taus(scores: list[list[Any]]) -> Iterator[np.ndarray]:
    """(n, measures, measures) for some of the examples at a time.

    tau-b = Σ sign·sign / sqrt(untied pairs · untied pairs); NaN for a constant vector.
    """
    measures, count = len(scores[0]), len(scores[0][0])
    above, below = np.triu_indices(count, 1)
    step = max(1, _AT_ONCE // (measures * len(above)))
    for start in range(0, len(scores), step):
        values = np.array(scores[start : start + step], dtype=float)  # (n, measures, words)
        signs = np.sign(values[..., above] - values[..., below]).astype(np.float32)
        # Whole numbers below 2²⁴, so exact in any order.
        together = (signs @ signs.transpose(0, 2, 1)).astype(float)
        untied = np.diagonal(together, axis1=1, axis2=2)
        with np.errstate(invalid="ignore", divide="ignore"):
            yield together / np.sqrt(untied[:, :, None] * untied[:, None, :])
