"""Does a word that is attended more tell more about the output? (Wen et al. 2022)"""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np
import pandas as pd

from attnaudit.audits.corpus import ranked
from attnaudit.audits.corpus.findings import CorpusFindings
from attnaudit.audits.corpus.information import adjusted, by_chance, plug_in
from attnaudit.audits.corpus.rank_correlation import (
    information_by_rank,
    tau_by_chance,
    tau_interval,
    weighted_tau,
)
from attnaudit.core import randomness
from attnaudit.core.contract import AttentionModel, Batch
from attnaudit.core.errors import NotApplicable
from attnaudit.core.option_limits import COUNT, Number, OneOf, limits
from attnaudit.core.progress import bar

QUESTION = "Does a word that is attended more tell more about the output?"
CLUSTERS = (50, 100, 150, 200)
OUTPUT_CLUSTERS = 5
LARGE = 20_000  # examples from which on MiniBatchKMeans is used


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
    """Correlate mean attention with mutual information, rank by rank.

    At each rank r: the mutual information between k-means clusters of the r-th most attended hidden
    vectors and clusters of the outputs. Then the weighted tau over ranks between this information
    and the mean attention, which is also the weight. 1: the more attended, the more informative;
    0: no relation. Outputs have 5 clusters of the probability of class 1 with two classes; with
    more classes they are clustered by the predicted class.

    Parameters
    ----------
    model : AttentionModel
        With one row of attention over hidden vectors.
    batches : iterable of Batch
    seed : int, default 0
    rule : {1, 2}
        How many ranks to look at. 1: the 10th percentile of length, or the largest k for which 80 %
        of all weights up to rank k exceed 1e-5, whichever is smaller. 2: the largest k for which
        80 % of the k-th weights do.
    clusters : int or "auto"
        Number of clusters; auto: the smallest of 50, 100, 150, 200 with at least two members in
        each cluster, or 50.
    clusterings : int, default 3
        Repetitions of k-means with other seeds, whose spread is reported as `clustering_sd`.
    most : int, default 100
        Largest number of ranks.
    show_progress : bool, default True

    Returns
    -------
    CorpusFindings
        summary: `weighted_tau`, corrected for the bias of the information
        (`weighted_tau_corrected`), and of the word vectors (`weighted_tau_of_input`); detail: the
        information by rank.

    Examples
    --------
    >>> from attnaudit.models.glass import Glass, glass_batch
    >>> findings = mutual_information(
    ...     Glass("oracle"), [glass_batch(120)], clusterings=1, show_progress=False
    ... )
    >>> list(findings.summary["metric"])[:2]
    ['weighted_tau', 'weighted_tau_corrected']
    """
    batches = list(batches)
    by_rank = ranked.weights_by_rank(model, batches, most)
    count = ranked.ranks(by_rank.weights, by_rank.lengths, rule)
    if count < 2:
        raise NotApplicable(f"rule {rule} leaves {count} rank(s); a correlation by rank needs two")
    long_enough = by_rank.lengths >= count
    fewest = 2 * (CLUSTERS[0] if clusters == "auto" else int(clusters))
    if long_enough.sum() < fewest:
        raise NotApplicable(
            f"{int(long_enough.sum())} texts have {count} words; so many clusters take at least "
            f"{fewest}. Give clusters=NUMBER for fewer"
        )
    weights = by_rank.weights[long_enough, :count]
    hidden, inputs = (
        vectors[long_enough] for vectors in ranked.vectors_by_rank(model, batches, count)
    )
    outputs = _output_labels(by_rank.probs[long_enough], randomness.derive(seed, "outputs"))
    generator = np.random.default_rng(randomness.derive(seed, "shuffled outputs"))
    labels = np.empty((clusterings, count, int(long_enough.sum())), dtype=np.int64)
    sizes = np.empty((clusterings, count), dtype=np.int64)
    with bar("Clustering", clusterings * count, show=show_progress) as advance:
        for repetition in range(clusterings):
            for rank in range(count):
                state = randomness.derive(seed, "clusters", repetition, rank) % 2**32
                labels[repetition, rank], sizes[repetition, rank] = cluster(
                    hidden[:, rank], clusters, state
                )
                advance(f"rank {rank + 1} of {count}")
    input_labels = np.stack(
        [
            cluster(inputs[:, rank], clusters, randomness.derive(seed, "inputs", rank) % 2**32)[0]
            for rank in range(count)
        ]
    )
    attention = weights.mean(0)
    detail = pd.DataFrame(
        {
            "rank": np.arange(1, count + 1),
            "mean_attention": attention,
            "mi": information_by_rank(labels[0], outputs, plug_in),
            "mi_floor": information_by_rank(labels[0], outputs, by_chance),
            "mi_corrected": information_by_rank(labels[0], outputs, adjusted),
            "mi_of_input": information_by_rank(input_labels, outputs, plug_in),
            "clusters": sizes[0],
        }
    )
    chance = {
        estimator: tau_by_chance(labels[0], outputs, attention, generator, estimator)
        for estimator in (plug_in, adjusted)
    }
    taus = [
        weighted_tau(information_by_rank(clustering, outputs, plug_in), attention)
        for clustering in labels
    ]
    lines = [
        (
            "weighted_tau",
            taus[0],
            *tau_interval(labels[0], outputs, weights, seed, plug_in),
            chance[plug_in],
        ),
        (
            "weighted_tau_corrected",
            weighted_tau(detail["mi_corrected"].to_numpy(), attention),
            *tau_interval(labels[0], outputs, weights, seed, adjusted),
            chance[adjusted],
        ),
        (
            "weighted_tau_of_input",
            weighted_tau(detail["mi_of_input"].to_numpy(), attention),
            *tau_interval(input_labels, outputs, weights, seed, plug_in),
            tau_by_chance(input_labels, outputs, attention, generator, plug_in),
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
        "examples": int(long_enough.sum()),
        "seed": seed,
    }
    return CorpusFindings("mutual_information", QUESTION, summary, detail, notes)


def _output_labels(probs: np.ndarray, seed: int) -> np.ndarray:
    """The cluster of each output (n,), from probs (n,C)."""
    if probs.shape[1] > 2:
        return probs.argmax(1)
    labels, _ = cluster(probs[:, 1:], OUTPUT_CLUSTERS, seed % 2**32)
    return labels


def cluster(vectors: np.ndarray, clusters: str | int, state: int) -> tuple[np.ndarray, int]:
    """The cluster of each vector (n,), and the number of clusters asked for."""
    from sklearn.cluster import KMeans, MiniBatchKMeans
    from sklearn.exceptions import ConvergenceWarning

    distinct = len(np.unique(vectors, axis=0))
    numbers = CLUSTERS if clusters == "auto" else (int(clusters),)
    first: tuple[np.ndarray, int] | None = None
    for number in numbers:
        number = min(number, distinct)
        kind = MiniBatchKMeans if len(vectors) >= LARGE else KMeans
        with warnings.catch_warnings():
            # Vectors that differ by rounding alone end up in one cluster, which k-means warns
            # of; an empty cluster carries no information.
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels = kind(number, n_init=1, random_state=state).fit_predict(vectors)
        first = first or (labels, number)
        if np.bincount(labels, minlength=number).min() >= 2:
            return labels, number
    assert first is not None  # there is always a number to try
    return first
