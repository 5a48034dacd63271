"""Mutual information between two clusterings of the same examples, with its bias."""

from __future__ import annotations

import numpy as np


def contingency(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How often each pair of labels occurs (X,Y); x (n,) and y (n,) are whole numbers from 0."""
    counts = np.zeros((int(x.max()) + 1, int(y.max()) + 1))
    np.add.at(counts, (x, y), 1.0)
    return counts


def plug_in(counts: np.ndarray) -> float:
    """Σ p(x,y) ln p(x,y)/(p(x)p(y)) in nats.

    Biased upwards: with few examples, independent labels seem to be informative.
    """
    p = counts / counts.sum()
    expected = p.sum(1, keepdims=True) * p.sum(0, keepdims=True)
    seen = p > 0
    return float((p[seen] * np.log(p[seen] / expected[seen])).sum())


def by_chance(counts: np.ndarray) -> float:
    """The expected plug-in information of independent labels with these frequencies: the floor."""
    from sklearn.metrics.cluster import expected_mutual_information

    # Labels that do not occur (in a resample) would give 0 · ln 0.
    occurring = counts[counts.sum(1) > 0][:, counts.sum(0) > 0]
    return float(expected_mutual_information(occurring, int(counts.sum())))


def adjusted(counts: np.ndarray) -> float:
    """plug_in minus by_chance: 0 on average for independent labels."""
    return plug_in(counts) - by_chance(counts)
