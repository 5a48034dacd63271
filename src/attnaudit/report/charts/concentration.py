"""How much of the attention do the most attended words hold? The curve of concentration, over the examples that were kept whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from attnaudit.report.inline_data import rounded

SHARES = np.linspace(0, 1, 21)  # of the words, the highest first


def concentration(examples: pd.DataFrame, groups: dict[int, list[int] | None]) -> dict[str, Any]:
    """measure -> for each group of predicted classes (None: all): mean and quartiles of the share of the total that the top share of the
    words holds. On the diagonal all words are alike; a curve that is 1 early is sparse. Absolute scores, of several rows their mean."""
    curves: dict[str, list[np.ndarray]] = {}
    predicted: dict[str, list[int]] = {}
    for line in examples.itertuples():
        scores = {
            "attention": line.attention,
            **{each["measure"]: each["values"] for each in line.scores},
        }
        for measure, values in scores.items():
            curve = _curve(np.asarray(values, dtype=float), len(line.tokens))
            if curve is not None:
                curves.setdefault(measure, []).append(curve)
                predicted.setdefault(measure, []).append(line.predicted)
    found = {}
    for measure, each in curves.items():
        table, who = np.stack(each), np.array(predicted[measure])
        found[measure] = [
            {"class": group, "count": len(part), **_told(part)}
            for group, members in groups.items()
            if len(part := table if members is None else table[np.isin(who, members)])
        ]
    return {"shares": [rounded(share) for share in SHARES], "measures": found} if found else {}


def _curve(scores: np.ndarray, count: int) -> np.ndarray | None:
    """(21,) None with fewer than two words, or where nothing has any weight."""
    if count < 2 or not len(scores) or not np.isfinite(scores).all():
        return None
    # The mean first: a row may be over some of the words only, and says nothing of the others.
    sizes = np.abs(scores).reshape(-1, count).mean(0)
    if sizes.sum() == 0:
        return None
    held = np.concatenate([[0.0], np.cumsum(-np.sort(-sizes))])
    return np.interp(SHARES, np.arange(count + 1) / count, held / held[-1])


def _told(part: np.ndarray) -> dict[str, list[float | None]]:
    low, high = np.quantile(part, (0.25, 0.75), axis=0)
    told = {"mean": part.mean(0), "low": low, "high": high}
    return {name: [rounded(value, 4) for value in values] for name, values in told.items()}
