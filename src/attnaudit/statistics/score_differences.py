"""Intervals of the difference in accuracy, F1 and ROC-AUC of two models on the same examples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import torch
from scipy.special import stdtrit  # not scipy.stats, which takes long to import

from attnaudit.statistics.interval_kinds import FEW, Kind
from attnaudit.statistics.rates import signed_rate_interval

_ADDED = 2.0  # examples


class Ends(NamedTuple):
    """The ends of an interval, NaN if withheld, and how it was made or why it is withheld."""

    low: float
    high: float
    kind: Kind


def accuracy_difference(
    labels: np.ndarray, first: np.ndarray, second: np.ndarray, *, level: float = 0.95
) -> Ends:
    """Interval of the accuracy of `first` minus that of `second` (Bonett & Price 2012).

    Parameters
    ----------
    labels, first, second : array, (B,)
        True classes, and the classes that the two models predict.
    level : float

    Examples
    --------
    >>> labels = np.arange(40) % 2
    >>> ends = accuracy_difference(labels, labels, np.zeros(40, dtype=int))
    >>> round(ends.low, 2), round(ends.high, 2)
    (0.31, 0.64)
    """
    if len(labels) < FEW:
        return Ends(math.nan, math.nan, Kind.FEW)
    right, other = first == labels, second == labels
    gained, lost = (right & ~other).sum(), (other & ~right).sum()
    low, high = signed_rate_interval(
        torch.tensor(gained), torch.tensor(lost), torch.tensor(len(labels)), level
    )
    return Ends(float(low), float(high), Kind.SIGNED_RATE)


def f1_difference(
    labels: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    *,
    classes: Sequence[int] | None = None,
    level: float = 0.95,
) -> Ends:
    """Interval of the F1 of `first` minus that of `second`.

    By the standard error of the linearised difference, with two examples added: an equal part for
    each label and each way in which the two models can be right or wrong about it, as Bonett &
    Price (2012) do for a difference in accuracy. It covers too often where the models differ on
    few examples.

    Parameters
    ----------
    labels, first, second : array, (B,)
        True classes, and the classes that the two models predict.
    classes : sequence of int, optional
        The classes whose F1 is averaged; all that occur if omitted (macro average).
    level : float

    Examples
    --------
    >>> labels = np.arange(40) % 2
    >>> ends = f1_difference(labels, labels, np.zeros(40, dtype=int), classes=[1])
    >>> round(ends.low, 2), round(ends.high, 2)
    (0.78, 1.0)
    """
    if len(labels) < FEW:
        return Ends(math.nan, math.nan, Kind.FEW)
    present = np.unique(np.concatenate([labels, first, second]))
    if len(present) < 2:
        return Ends(math.nan, math.nan, Kind.EQUAL_UNBOUNDED)
    averaged = present if classes is None else np.asarray(classes)
    cells, times = np.unique(np.stack([labels, first, second]), axis=1, return_counts=True)
    low, high = f1_difference_of_counts(cells, times[None], averaged, level=level)
    return Ends(float(low[0]), float(high[0]), Kind.F1)


def f1_difference_of_counts(
    cells: np.ndarray, times: np.ndarray, classes: np.ndarray, *, level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """The ends (T,) of `f1_difference` for T samples, given as counts.

    Parameters
    ----------
    cells : array, (3,K)
        Label and both predictions of each kind of example.
    times : array, (T,K)
        How often each sample has each kind.
    classes : array, (C,)
        The classes whose F1 is averaged.
    level : float

    Examples
    --------
    >>> cells = np.array([[0, 1, 1], [0, 1, 1], [0, 1, 0]])
    >>> low, high = f1_difference_of_counts(cells, np.array([[40, 30, 10]]), np.array([1]))
    >>> bool(0 < low[0] < 1 - 2 * 30 / 70 < high[0])
    True
    """
    value, _ = _f1(cells, times.astype(float), classes)
    added = _every_kind(np.unique(cells))
    share = np.full((len(times), added.shape[1]), _ADDED / added.shape[1])
    centre, error = _f1(np.concatenate([cells, added], 1), np.hstack([times, share]), classes)
    reach = stdtrit(times.sum(1) - 1.0, (1 + level) / 2) * error
    low, high = np.maximum(centre - reach, -1.0), np.minimum(centre + reach, 1.0)
    return np.fmin(low, value), np.fmax(high, value)


def _every_kind(classes: np.ndarray) -> np.ndarray:
    """Each label with each model right, or wrong by predicting the next class: (3, 4·C)."""
    wrong = np.roll(classes, -1)
    pairs = [(classes, first, second) for first in (classes, wrong) for second in (classes, wrong)]
    return np.concatenate([np.stack(pair) for pair in pairs], 1)


def _f1(cells: np.ndarray, times: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The difference in F1 and its standard error (T,), from cells (3,K) that occur `times` (T,K).

    A class without a label or a prediction is left out of a model's average, as in scikit-learn.
    NaN if none is left.
    """
    count = times.sum(1)
    difference, influence = np.zeros(len(times)), np.zeros(times.shape)
    for sign, predicted in ((1, cells[1]), (-1, cells[2])):
        own, true = predicted == classes[:, None], cells[0] == classes[:, None]  # (C,K)
        hits, totals = 2.0 * (own & true), own.astype(float) + true
        base = times @ totals.T  # (T,C)
        with np.errstate(invalid="ignore", divide="ignore"):
            f1 = np.where(base > 0, (times @ hits.T) / base, 0.0)
            weight = (base > 0) / (base > 0).sum(1, keepdims=True)
            scale = np.where(base > 0, weight * count[:, None] / base, 0.0)
        difference += sign * (weight * f1).sum(1)
        influence += sign * (scale @ hits - (scale * f1) @ totals)
    return difference, np.sqrt((times * influence**2).sum(1) / (count * (count - 1)))


def auc_difference(
    labels: np.ndarray, first: np.ndarray, second: np.ndarray, *, level: float = 0.95
) -> Ends:
    """Interval of the ROC-AUC of `first` minus that of `second` (DeLong et al. 1988).

    Withheld with fewer than 10 examples of either class.

    Parameters
    ----------
    labels : array, (B,)
        0 or 1.
    first, second : array, (B,)
        The scores of class 1.
    level : float

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> labels = np.arange(200) % 2
    >>> ends = auc_difference(labels, labels + draw.normal(size=200), draw.normal(size=200))
    >>> bool(0 < ends.low < ends.high)
    True
    """
    sizes = [(labels == label).sum() for label in (0, 1)]
    if min(sizes) < FEW:
        return Ends(math.nan, math.nan, Kind.FEW)
    gaps = [
        a - b for a, b in zip(_placements(labels, first), _placements(labels, second), strict=True)
    ]
    value = float(gaps[1].mean())
    variance = sum(gap.var(ddof=1) / len(gap) for gap in gaps)
    if not variance:
        return Ends(math.nan, math.nan, Kind.EQUAL_UNBOUNDED)
    reach = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(variance)
    return Ends(max(-1.0, value - reach), min(1.0, value + reach), Kind.DELONG)


def _placements(labels: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The share of the other class on the right side of each negative, and of each positive."""
    from scipy.stats import rankdata

    negative, positive = scores[labels == 0], scores[labels == 1]
    ranks = rankdata(scores)
    below = (ranks[labels == 1] - rankdata(positive)) / len(negative)
    above = 1 - (ranks[labels == 0] - rankdata(negative)) / len(positive)
    return above, below
