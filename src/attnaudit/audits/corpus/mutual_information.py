"""Does a word that is attended more tell more about the output? (Wen et al. 2022)"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
import torch

from attnaudit import statistics
from attnaudit.audits.corpus import ranked
from attnaudit.audits.corpus.findings import CorpusFindings
from attnaudit.audits.corpus.information import adjusted, by_chance, contingency, plug_in
from attnaudit.core import randomness
from attnaudit.core.contract import AttentionModel, Batch
from attnaudit.core.errors import NotApplicable
from attnaudit.core.option_limits import COUNT, Number, OneOf, limits
from attnaudit.core.progress import bar

QUESTION = "Does a word that is attended more tell more about the output?"
CLUSTERS = (50, 100, 150, 200)
OUTPUT_CLUSTERS = 5
LARGE = 20_000  # examples; MiniBatchKMeans from here on
RESAMPLES = 200


@limits(
    rule=OneOf((1, 2)),
    clusters=Number(above=1, whole=True, or_word="auto"),
    clusterings=COUNT,
    most=Number(least=2, whole=True),
)
def mutual_information(
    model: AttentionModel,
    batches: Iterable[Batch],
    seed: int = 0,
    *,
    rule: int = 1,
    clusters: str | int = "auto",
    clusterings: int = 3,
    most: int = 100,
    show_progress: bool = True,
) -> CorpusFindings:
    """MI, rank by rank, between k-means clusters of the r-th most attended hidden vectors and of the outputs; and the weighted tau between
    it and mean attention by rank, weights the mean attention. 1: the more attended, the more informative; 0: no relation.

    k, the ranks looked at. rule=1: the least of the 10th percentile of length and the largest k for which 80 % of all the weights selected
    exceed 1e-5; rule=2: the largest k at which 80 % of the k-th weights do. At most `most`. clusters=auto: the least of 50, 100, 150, 200
    with at least two members in each cluster, and 50 where there is none. Outputs: 5 clusters of the probability of class 1 with two
    classes, the predicted class with more. `clusterings`: repeated with other seeds of k-means, whose spread is told apart from the rest.
    """
    listed = list(batches)
    seen = ranked.weights_by_rank(model, listed, most)
    count = ranked.ranks(seen.weights, seen.lengths, rule)
    if count < 2:
        raise NotApplicable(f"rule {rule} leaves {count} rank(s); a correlation by rank needs two")
    has = seen.lengths >= count  # texts that have this many words at all
    fewest = 2 * (CLUSTERS[0] if clusters == "auto" else int(clusters))
    if has.sum() < fewest:
        raise NotApplicable(
            f"{int(has.sum())} texts have {count} words; so many clusters take at least {fewest}. Give clusters=NUMBER for fewer"
        )
    weights = seen.weights[has, :count]
    hidden, inputs = (each[has] for each in ranked.vectors_by_rank(model, listed, count))
    outputs = _output_labels(seen.probs[has], randomness.derive(seed, "outputs"))
    draw = np.random.default_rng(randomness.derive(seed, "shuffled outputs"))
    labels = np.empty((clusterings, count, int(has.sum())), dtype=np.int64)
    sizes = np.empty((clusterings, count), dtype=np.int64)
    with bar("Clustering", clusterings * count, show=show_progress) as advance:
        for again in range(clusterings):
            for rank in range(count):
                state = randomness.derive(seed, "clusters", again, rank) % 2**32
                labels[again, rank], sizes[again, rank] = _cluster(hidden[:, rank], clusters, state)
                advance(f"rank {rank + 1} of {count}")
    of_inputs = np.stack(
        [
            _cluster(inputs[:, rank], clusters, randomness.derive(seed, "inputs", rank) % 2**32)[0]
            for rank in range(count)
        ]
    )
    attention = weights.mean(0)
    detail = pd.DataFrame(
        {
            "rank": np.arange(1, count + 1),
            "mean_attention": attention,
            "mi": _informed(labels[0], outputs, plug_in),
            "mi_floor": _informed(labels[0], outputs, by_chance),
            "mi_corrected": _informed(labels[0], outputs, adjusted),
            "mi_of_input": _informed(of_inputs, outputs, plug_in),
            "clusters": sizes[0],
        }
    )
    chance = {
        each: _tau_by_chance(labels[0], outputs, attention, draw, each)
        for each in (plug_in, adjusted)
    }
    taus = [_tau(_informed(each, outputs, plug_in), attention) for each in labels]
    lines = [
        (
            "weighted_tau",
            taus[0],
            *_interval(labels[0], outputs, weights, seed, plug_in),
            chance[plug_in],
        ),
        (
            "weighted_tau_corrected",
            _tau(detail["mi_corrected"].to_numpy(), attention),
            *_interval(labels[0], outputs, weights, seed, adjusted),
            chance[adjusted],
        ),
        (
            "weighted_tau_of_input",
            _tau(detail["mi_of_input"].to_numpy(), attention),
            *_interval(of_inputs, outputs, weights, seed, plug_in),
            _tau_by_chance(of_inputs, outputs, attention, draw, plug_in),
        ),
        (
            "clustering_sd",
            float(np.std(taus, ddof=1)) if clusterings > 1 else np.nan,
            np.nan,
            np.nan,
            0.0,
        ),
    ]
    summary = pd.DataFrame(lines, columns=["metric", "value", "low", "high", "floor"]).assign(
        ceiling=1.0
    )
    notes = {
        "k": count,
        "rule": rule,
        "clusters": str(clusters),
        "examples": int(has.sum()),
        "seed": seed,
    }
    return CorpusFindings("mutual_information", QUESTION, summary, detail, notes)


def _output_labels(probs: np.ndarray, seed: int) -> np.ndarray:
    if probs.shape[1] > 2:
        return probs.argmax(1)
    labels, _ = _cluster(probs[:, 1:], OUTPUT_CLUSTERS, seed % 2**32)
    return labels


def _cluster(vectors: np.ndarray, clusters: str | int, state: int) -> tuple[np.ndarray, int]:
    """(cluster of each vector, how many clusters were asked for)."""
    from sklearn.cluster import KMeans, MiniBatchKMeans
    from sklearn.exceptions import ConvergenceWarning

    different = len(np.unique(vectors, axis=0))
    tried = CLUSTERS if clusters == "auto" else (int(clusters),)
    first: tuple[np.ndarray, int] | None = None
    for wanted in tried:
        wanted = min(wanted, different)
        kind = MiniBatchKMeans if len(vectors) >= LARGE else KMeans
        with warnings.catch_warnings():
            # Vectors that differ by rounding alone end up in one cluster, which k-means warns of; an empty cluster informs nobody.
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels = kind(wanted, n_init=1, random_state=state).fit_predict(vectors)
        first = first or (labels, wanted)
        if np.bincount(labels, minlength=wanted).min() >= 2:
            return labels, wanted
    assert first is not None  # there is always one number to try
    return first


def _tau(informed: np.ndarray, attention: np.ndarray) -> float:
    """Weighted tau between information and mean attention by rank; weights: the mean attention."""
    x = torch.tensor(informed, dtype=torch.float64)[None]
    y = torch.tensor(attention, dtype=torch.float64)[None]
    return float(statistics.weighted_kendall(x, y, y, torch.ones_like(y, dtype=torch.bool))[0])


def _informed(
    labels: np.ndarray,
    outputs: np.ndarray,
    information: Callable[[np.ndarray], float],
) -> np.ndarray:
    """(k,) the information of each rank's clusters (k,n) about the outputs (n,)."""
    return np.array([information(contingency(each, outputs)) for each in labels])


def _interval(
    labels: np.ndarray,
    outputs: np.ndarray,
    weights: np.ndarray,
    seed: int,
    information: Callable[[np.ndarray], float],
) -> tuple[float, float]:
    """95 % interval of the weighted tau over examples, the clusters held; NaN if the tau has no value.

    From halves drawn without replacement: an example drawn twice would look like information.
    """
    draw = np.random.default_rng(randomness.derive(seed, "mutual information"))
    count = len(outputs)
    whole = _tau(_informed(labels, outputs, information), weights.mean(0))
    found = []
    for _ in range(RESAMPLES):
        half = draw.permutation(count)[: count // 2]
        informed = _informed(labels[:, half], outputs[half], information)
        found.append(_tau(informed, weights[half].mean(0)))
    known = np.array(found)[~np.isnan(found)]
    if math.isnan(whole) or not len(known):
        return math.nan, math.nan
    # Symmetric subsampling interval (Politis, Romano & Wolf 1999, section 2.3). A half drawn without replacement lies as far from the
    # whole as the whole from the population, so no rescaling. The distance is taken from the tau of all examples, not from the mean of
    # the halves: fewer examples look more informative, and that shift counts as uncertainty. Cut at ±1, the interval keeps the tau.
    reach = float(np.quantile(np.abs(known - whole), 0.95))
    return max(whole - reach, -1.0), min(whole + reach, 1.0)


def _tau_by_chance(
    labels: np.ndarray,
    outputs: np.ndarray,
    attention: np.ndarray,
    draw: np.random.Generator,
    information: Callable[[np.ndarray], float],
) -> float:
    """Mean weighted tau with the outputs shuffled. Not 0 for the plug-in: its bias grows with the clusters a rank has."""
    shuffled = (draw.permutation(outputs) for _ in range(20))
    taus = np.array([_tau(_informed(labels, each, information), attention) for each in shuffled])
    return float(np.nanmean(taus)) if not np.isnan(taus).all() else math.nan
