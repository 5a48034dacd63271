"""Do the measures rank the words alike? Kendall's tau-b of every two of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from attnaudit.report.inline_data import rounded

LONGEST = 500  # words; all pairs of a longer text would take long, and add little


def measure_matrix(examples: pd.DataFrame) -> dict[str, Any]:
    """Names of the measures, the mean tau of each two, and over how many examples it is defined.

    Over the examples that were kept whole, of sites with one attention row.
    """
    if not len(examples):
        return {}
    names: list[str] = []
    taus: dict[tuple[str, str], list[float]] = {}
    used = 0
    for line in examples.itertuples():
        scores = {
            "attention": line.attention,
            **{score["measure"]: score["values"] for score in line.scores},
        }
        count = len(line.tokens)
        whole = {
            name: np.asarray(values, dtype=float)
            for name, values in scores.items()
            if len(values) == count
        }
        if not 2 <= count <= LONGEST or "attention" not in whole:
            continue
        used += 1
        names += [name for name in whole if name not in names]
        for pair, tau in _taus(whole).items():
            taus.setdefault(pair, []).append(tau)
    cells = []
    for (a, b), values in taus.items():
        known = np.array(values)[~np.isnan(values)]
        if len(known):
            cells.append({"a": a, "b": b, "tau": rounded(known.mean()), "count": len(known)})
    return {"names": names, "cells": cells, "examples": used, "longest": LONGEST} if cells else {}


def _taus(scores: dict[str, np.ndarray]) -> dict[tuple[str, str], float]:
    """tau-b = Σ sign·sign / sqrt(untied pairs · untied pairs); NaN for a constant vector."""
    names = list(scores)
    above, below = np.triu_indices(len(next(iter(scores.values()))), 1)
    order = [np.sign(values[above] - values[below]) for values in scores.values()]
    signs = np.stack(order).astype(np.float32)
    together = (signs @ signs.T).astype(float)
    untied = np.diag(together)
    with np.errstate(invalid="ignore", divide="ignore"):
        tau = together / np.sqrt(np.outer(untied, untied))
    return {
        (a, b): float(tau[i, j]) for i, a in enumerate(names) for j, b in enumerate(names) if i < j
    }
