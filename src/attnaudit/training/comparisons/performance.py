"""Does one model perform better than another? Differences with intervals, paired by example."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from torch import Tensor

from attnaudit.core import randomness
from attnaudit.statistics.classification import performance
from attnaudit.statistics.interval_ends import percentile_ends


def compare_performance(
    labels: Tensor, first: Tensor, second: Tensor, *, seed: int = 0, resamples: int = 1000
) -> pd.DataFrame:
    """Compare the performance of two models on the same examples.

    Both models are scored on the same resamples, so that examples that are hard for both do not
    count as a difference.

    Parameters
    ----------
    labels : true classes (B,).
    first, second : predicted probabilities of the two models, (B,C) each.

    Returns
    -------
    One line per metric: first, second, difference, and the ends of its 95 % percentile bootstrap
    interval, low and high (NaN for a single example).

    Examples
    --------
    >>> import torch
    >>> labels, probs = torch.tensor([0, 1]), torch.eye(2)
    >>> lines = compare_performance(labels, probs, probs.flip(0)).set_index("metric")
    >>> float(lines.loc["accuracy", "difference"])
    1.0
    """
    own, other = performance(labels, first), performance(labels, second)
    draw = np.random.default_rng(randomness.derive(seed, "performance"))
    # How often each resample drew each example; every metric follows from weighted counts.
    counts = draw.multinomial(
        len(labels), np.full(len(labels), 1 / len(labels)), size=resamples
    ).astype(float)
    spread = {
        name: _resampled(name, labels.numpy(), first.numpy(), counts)
        - _resampled(name, labels.numpy(), second.numpy(), counts)
        for name in own
    }
    lines = []
    for name in own:
        difference = own[name] - other[name]
        low, high = (
            percentile_ends(difference, spread[name]) if len(labels) > 1 else (math.nan, math.nan)
        )
        lines.append(
            {
                "metric": name,
                "first": own[name],
                "second": other[name],
                "difference": difference,
                "low": low,
                "high": high,
            }
        )
    return pd.DataFrame(lines)


def _resampled(name: str, labels: np.ndarray, probs: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The metric on every resample (S,), from how often each drew each example (S,B)."""
    predicted = probs.argmax(-1)
    if name == "accuracy":
        return counts @ (predicted == labels) / counts.sum(-1)
    if name == "roc_auc":
        return _auc(labels, probs[:, 1], counts)
    classes = [1] if probs.shape[1] == 2 else sorted(set(labels) | set(predicted))
    # The mean over the classes that occur in a resample, as in scikit-learn.
    scores = np.array([_f1(predicted == label, labels == label, counts) for label in classes])
    known = ~np.isnan(scores)
    count = known.sum(0)
    return np.divide(
        np.where(known, scores, 0).sum(0), count, out=np.full(len(counts), np.nan), where=count > 0
    )


def _f1(predicted: np.ndarray, true: np.ndarray, counts: np.ndarray) -> np.ndarray:
    hits = counts @ (predicted & true)
    total = counts @ predicted.astype(float) + counts @ true.astype(float)
    return np.divide(2 * hits, total, out=np.full(len(counts), np.nan), where=total > 0)


def _auc(labels: np.ndarray, scores: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Share of (positive, negative) pairs in the right order, ties half; NaN without both."""
    order = scores.argsort(kind="stable")
    starts = np.unique(scores[order], return_index=True)[1]  # of each level of the scores
    positive, negative = (
        np.add.reduceat((counts * (labels == label))[:, order], starts, axis=1) for label in (1, 0)
    )
    below = negative.cumsum(-1) - negative / 2
    pairs = positive.sum(-1) * negative.sum(-1)
    return np.divide(
        (positive * below).sum(-1), pairs, out=np.full(len(counts), np.nan), where=pairs > 0
    )
