"""Mutual information between two clusterings of the same examples: plug-in, corrected for its bias, and what chance gives."""

from __future__ import annotations

import numpy as np


def contingency(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How often each pair of labels occurs: x (n,), y (n,) whole numbers from 0 -> (X,Y)."""
    counts = np.zeros((int(x.max()) + 1, int(y.max()) + 1))
    np.add.at(counts, (x, y), 1.0)
    return counts


def plug_in(counts: np.ndarray) -> float:
    """Σ p(x,y) ln p(x,y)/(p(x)p(y)) in nats. Biased upwards: independent labels of few examples seem to inform each other."""
    p = counts / counts.sum()
    expected = p.sum(1, keepdims=True) * p.sum(0, keepdims=True)
    seen = p > 0
    return float((p[seen] * np.log(p[seen] / expected[seen])).sum())


def by_chance(counts: np.ndarray) -> float:
    """The plug-in information that labels as frequent as these have on average when they have nothing to do with each other: the floor."""
    from sklearn.metrics.cluster import expected_mutual_information

    # Labels that do not occur (in a resample) would only give 0 · ln 0.
    occurring = counts[counts.sum(1) > 0][:, counts.sum(0) > 0]
    return float(expected_mutual_information(occurring, int(counts.sum())))


def adjusted(counts: np.ndarray) -> float:
    """plug_in without what chance gives: 0 on average for labels that have nothing to do with each other."""
    return plug_in(counts) - by_chance(counts)
