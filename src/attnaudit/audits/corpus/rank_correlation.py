"""Weighted tau over ranks between mutual information and attention, its interval and its floor.

Arrays: labels (k,n), the cluster of each example at each of k ranks; outputs (n,), the cluster of
each output; weights (n,k), the attention; attention (k,), its mean by rank.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch

from attnaudit import statistics
from attnaudit.audits.corpus.information import contingency
from attnaudit.core import randomness

RESAMPLES = 200
SHUFFLES = 20
Information = Callable[[np.ndarray], float]  # of a contingency table


def information_by_rank(
    labels: np.ndarray, outputs: np.ndarray, information: Information
) -> np.ndarray:
    """The information (k,) of each rank's clusters about the outputs."""
    return np.array([information(contingency(of_rank, outputs)) for of_rank in labels])


def weighted_tau(informed: np.ndarray, attention: np.ndarray) -> float:
    """Weighted tau between information and mean attention (k,); weights: the mean attention."""
    x = torch.tensor(informed, dtype=torch.float64)[None]
    y = torch.tensor(attention, dtype=torch.float64)[None]
    return float(statistics.weighted_kendall(x, y, y, torch.ones_like(y, dtype=torch.bool))[0])


def tau_interval(
    labels: np.ndarray,
    outputs: np.ndarray,
    weights: np.ndarray,
    seed: int,
    information: Information,
) -> tuple[float, float]:
    """95 % interval of the weighted tau over examples with fixed clusters; NaN if tau is NaN.

    From halves drawn without replacement: an example drawn twice would look like information.
    """
    generator = np.random.default_rng(randomness.derive(seed, "mutual information"))
    count = len(outputs)
    whole = weighted_tau(information_by_rank(labels, outputs, information), weights.mean(0))
    of_halves = []
    for _ in range(RESAMPLES):
        half = generator.permutation(count)[: count // 2]
        informed = information_by_rank(labels[:, half], outputs[half], information)
        of_halves.append(weighted_tau(informed, weights[half].mean(0)))
    known = np.array(of_halves)[~np.isnan(of_halves)]
    if math.isnan(whole) or not len(known):
        return math.nan, math.nan
    # Symmetric subsampling interval (Politis, Romano & Wolf 1999, section 2.3). A half drawn
    # without replacement lies as far from the whole as the whole from the population, so no
    # rescaling. The distance is taken from the tau of all examples, not from the mean of the
    # halves: fewer examples look more informative, and that shift counts as uncertainty. Clipped to
    # ±1, the interval still contains the tau.
    reach = float(np.quantile(np.abs(known - whole), 0.95))
    return max(whole - reach, -1.0), min(whole + reach, 1.0)


def tau_by_chance(
    labels: np.ndarray,
    outputs: np.ndarray,
    attention: np.ndarray,
    generator: np.random.Generator,
    information: Information,
) -> float:
    """Mean weighted tau with shuffled outputs: the floor.

    Not 0 for the plug-in information, whose bias grows with the number of clusters at a rank.
    """
    shuffled = (generator.permutation(outputs) for _ in range(SHUFFLES))
    taus = np.array(
        [
            weighted_tau(information_by_rank(labels, each, information), attention)
            for each in shuffled
        ]
    )
    return float(np.nanmean(taus)) if not np.isnan(taus).all() else math.nan
