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
    return float(_weighted_taus(informed[None], attention[None])[0])


def _weighted_taus(informed: np.ndarray, attention: np.ndarray) -> np.ndarray:
    """`weighted_tau` of several draws at once, (draws,k) each: (draws,)."""
    x, y = (torch.tensor(of, dtype=torch.float64) for of in (informed, attention))
    return statistics.weighted_kendall(x, y, y, torch.ones_like(y, dtype=torch.bool)).numpy()


def tau_interval(
    labels: np.ndarray,
    outputs: np.ndarray,
    weights: np.ndarray,
    seed: int,
    information: Information,
) -> tuple[float, float]:
    """95 % interval of the weighted tau over examples with fixed clusters; NaN if tau is NaN.

    From halves drawn without replacement: an example drawn twice would look like information.
    Ranks whose information is nearly equal may be in either order, and tau counts each order as
    whole: the interval contains the tau of every such order, so it covers too often rather than
    too rarely.
    """
    generator = np.random.default_rng(randomness.derive(seed, "mutual information"))
    count = len(outputs)
    attention = weights.mean(0)
    informed = information_by_rank(labels, outputs, information)
    whole = weighted_tau(informed, attention)
    of_halves, attended = [], []
    for _ in range(RESAMPLES):
        half = generator.permutation(count)[: count // 2]
        of_halves.append(information_by_rank(labels[:, half], outputs[half], information))
        attended.append(weights[half].mean(0))
    taus = _weighted_taus(np.array(of_halves), np.array(attended))
    known = taus[~np.isnan(taus)]
    if math.isnan(whole) or not len(known):
        return math.nan, math.nan
    # Symmetric subsampling interval (Politis, Romano & Wolf 1999, section 2.3). A half drawn
    # without replacement lies as far from the whole as the whole from the population, so no
    # rescaling. The distance is taken from the tau of all examples, not from the mean of the
    # halves: fewer examples look more informative, and that shift counts as uncertainty. Clipped to
    # ±1, the interval still contains the tau.
    reach = float(np.quantile(np.abs(known - whole), 0.95))
    down, up = _open_order(informed, np.array(of_halves), attention)
    return max(whole - max(reach, down), -1.0), min(whole + max(reach, up), 1.0)


def _open_order(
    informed: np.ndarray, of_halves: np.ndarray, attention: np.ndarray
) -> tuple[float, float]:
    """How far tau may fall and rise if pairs of ranks with an uncertain order were exchanged.

    The order of two ranks is uncertain if the difference in information is no larger than its
    change may be in the halves, for all pairs at once: 95 % of the halves have no pair whose change
    is a larger multiple of its root mean square.
    """
    first, second = np.triu_indices(len(informed), 1)
    gap = informed[first] - informed[second]
    change = of_halves[:, first] - of_halves[:, second] - gap
    usual = np.sqrt((change**2).mean(0))
    multiple = np.divide(np.abs(change), usual, out=np.zeros_like(change), where=usual > 0)
    is_open = np.abs(gap) <= np.quantile(multiple.max(1), 0.95) * usual
    weight = attention[first] + attention[second]
    order = np.sign(gap) * np.sign(attention[first] - attention[second])
    pairs = np.sqrt(weight[gap != 0].sum() * weight[attention[first] != attention[second]].sum())
    weight = weight * (is_open & (attention[first] != attention[second]))
    return ((1 + order) * weight).sum() / pairs, ((1 - order) * weight).sum() / pairs


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
    informed = np.array([information_by_rank(labels, draw, information) for draw in shuffled])
    taus = _weighted_taus(informed, np.broadcast_to(attention, informed.shape))
    return float(np.nanmean(taus)) if not np.isnan(taus).all() else math.nan
