"""Do the measures rank the words alike? Kendall's tau-b of every two of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.report.charts.kept_scores import ScoreBlock, score_blocks
from attnaudit.report.inline_data import rounded

LONGEST = 500  # words; all pairs of a longer text would take long, and add little
_AT_ONCE = 2**21  # signs of pairs of words that are held in memory


def measure_matrix(
    examples: pd.DataFrame, blocks: Sequence[ScoreBlock] | None = None
) -> dict[str, Any]:
    """Names of the measures, the mean tau of each two, and over how many examples it is defined.

    Over the examples that were kept whole, of sites with one attention row.

    Parameters
    ----------
    examples
        Those that were kept whole.
    blocks
        `score_blocks(examples)`, if they are at hand.
    """
    used = 0
    names: dict[str, None] = {}
    # Two measures -> (numbers of the examples, tau), from every block.
    taus: dict[tuple[str, str], list[tuple[np.ndarray, np.ndarray]]] = {}
    for block in score_blocks(examples) if blocks is None else blocks:
        whole = {
            name: scores for name, scores in block.scores.items() if scores.shape[1] == block.words
        }
        if not 2 <= block.words <= LONGEST or "attention" not in whole:
            continue
        used += len(block.numbers)
        names |= dict.fromkeys(whole)
        matrix = np.concatenate(list(_taus(np.stack(list(whole.values()), axis=1))))
        measures = list(whole)
        for i, a in enumerate(measures):
            for j in range(i + 1, len(measures)):
                taus.setdefault((a, measures[j]), []).append((block.numbers, matrix[:, i, j]))
    cells = []
    for (a, b), parts in taus.items():
        order = np.concatenate([numbers for numbers, _ in parts]).argsort()
        values = np.concatenate([tau for _, tau in parts])[order]
        known = values[~np.isnan(values)]
        if len(known):
            cells.append({"a": a, "b": b, "tau": rounded(known.mean()), "count": len(known)})
    if not cells:
        return {}
    return {"names": list(names), "cells": cells, "examples": used, "longest": LONGEST}


def _taus(scores: np.ndarray) -> Iterator[np.ndarray]:
    """(n, measures, measures) for some of the examples at a time, of scores (n, measures, words).

    tau-b = Σ sign·sign / sqrt(untied pairs · untied pairs); NaN for a constant vector.
    """
    measures, count = scores.shape[1:]
    above, below = np.triu_indices(count, 1)
    step = max(1, _AT_ONCE // (measures * len(above)))
    for start in range(0, len(scores), step):
        values = scores[start : start + step]
        signs = np.sign(values[..., above] - values[..., below]).astype(np.float32)
        # Whole numbers below 2²⁴, so exact in any order.
        together = (signs @ signs.transpose(0, 2, 1)).astype(float)
        untied = np.diagonal(together, axis1=1, axis2=2)
        with np.errstate(invalid="ignore", divide="ignore"):
            yield together / np.sqrt(untied[:, :, None] * untied[:, None, :])
