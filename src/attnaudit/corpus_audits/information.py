"""Mutual information between two clusterings of the same examples: plug-in, corrected for its bias, and what chance gives."""

from __future__ import annotations

import numpy as np


def contingency(x: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """How often each pair of labels occurs: x (n,), y (n,) whole numbers from 0 -> (X,Y); each example counted `weights` (n,) times."""
    counts = np.zeros((int(x.max()) + 1, int(y.max()) + 1))
    np.add.at(counts, (x, y), 1.0 if weights is None else weights)
    return counts


def plug_in(counts: np.ndarray) -> float:
    """Σ p(x,y) ln p(x,y)/(p(x)p(y)) in nats. Biased upwards: independent labels of few examples seem to inform each other."""
    p = counts / counts.sum()
    expected = p.sum(1, keepdims=True) * p.sum(0, keepdims=True)
    seen = p > 0
    return float((p[seen] * np.log(p[seen] / expected[seen])).sum())


def miller_madow(counts: np.ndarray) -> float:
    """plug_in with the first-order bias of its three entropies taken off: − (XY − X − Y + 1)/2n, of the labels and pairs that occur."""
    pairs = (counts > 0).sum()
    x, y = (counts.sum(1) > 0).sum(), (counts.sum(0) > 0).sum()
    return plug_in(counts) - float(pairs - x - y + 1) / (2 * counts.sum())


def by_chance(x: np.ndarray, y: np.ndarray, draw: np.random.Generator, *, shuffles: int = 20) -> float:
    """Mean plug-in information with y shuffled: the floor."""
    return float(np.mean([plug_in(contingency(x, draw.permutation(y))) for _ in range(shuffles)]))
