"""Correlate two metrics across models: one point per model, so several models are needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch

from attnaudit import statistics
from attnaudit.core import randomness, registry
from attnaudit.core.errors import InputError
from attnaudit.results import store
from attnaudit.results.findings import find_corpus_audit
from attnaudit.results.results import Results
from attnaudit.statistics.interval_ends import percentile_ends
from attnaudit.training.comparisons.same_model import identities
from attnaudit.training.comparisons.seeds import SeedsTable, seeds_table

RESAMPLES = 2000


class Correlation(NamedTuple):
    """Kendall's tau-b between two metrics over models, with its interval and p-value.

    points: one line per model, with the columns model, runs and the two metrics.
    """

    question: str
    x: str
    y: str
    points: pd.DataFrame
    tau: float
    low: float
    high: float
    p: float

    def __str__(self) -> str:
        known = self.points.dropna()
        counts = f"{len(known)} models ({int(known['runs'].sum())} runs)"
        interval = f"{self.tau:.2f} [{self.low:.2f}, {self.high:.2f}], p = {self.p:.2g}"
        result = f"Kendall's tau between the two columns: {interval}, over {counts}"
        table = self.points.to_string(index=False, float_format="{:.3f}".format)
        return f"{self.question}\n{table}\n{result}"


def correlate(
    runs: str | Path | Iterable[str | Path], question: str = "dependence"
) -> Correlation | SeedsTable:
    """Correlate two metrics across finished runs, or summarise every model over its seeds.

    Parameters
    ----------
    runs : run directories, or folders that hold some.
    question : "dependence" (accuracy lost without attention against room for other attention),
        "uniformity" (entropy of attention against its information), or "seeds" (every metric over
        runs that differ only by seed).

    Returns
    -------
    A `Correlation`, or a `SeedsTable` for the question "seeds"; `str` of either is a table.

    Examples
    --------
    >>> correlate("runs").tau  # doctest: +SKIP
    """
    ask = registry.find(QUESTIONS, question, "question")
    listed = [runs] if isinstance(runs, str | Path) else runs
    return ask(store.find_runs(map(Path, listed)))


def dependence(folders: Sequence[Path], *, seed: int = 0) -> Correlation:
    """Do models that need their attention leave less room for another? (Neely & Schouten §7)

    x: accuracy lost under uniform attention. y: distance of the furthest attention with the same
    prediction, as a share of the maximum distance. A negative tau: where attention is needed, the
    prediction determines it.
    """
    return _correlation(
        "Do models that need their attention leave less room for another?",
        folders,
        ("accuracy lost under uniform attention", _mean("uniform_attention", "accuracy_drop")),
        ("furthest equivalent attention, share", _mean("furthest", "jsd_share")),
        seed,
    )


def uniformity(folders: Sequence[Path], *, seed: int = 0) -> Correlation:
    """Is attention that is spread out less informative by rank? (Wen et al. 2022, finding iii)

    x: mean entropy of attention (1 is uniform). y: weighted tau between attention and information,
    from `attnaudit corpus-audit`.
    """
    return _correlation(
        "Is attention that is spread out less informative by rank?",
        folders,
        ("entropy of attention", _mean("dispersion", "entropy", "attention")),
        ("weighted tau with information", _weighted_tau),
        seed,
    )


QUESTIONS: dict[str, Callable[..., Correlation | SeedsTable]] = {
    "dependence": dependence,
    "uniformity": uniformity,
    "seeds": seeds_table,
}
Number = Callable[[Path, Results], float]  # reads one metric from a run


def _mean(audit: str, metric: str, measure: str = "") -> Number:
    def read(folder: Path, results: Results) -> float:
        return results.mean(audit, metric, measure)

    return read


def _weighted_tau(folder: Path, results: Results) -> float:
    """From the first mutual information audit in the run's folder; NaN without one."""
    findings = find_corpus_audit(folder, "mutual_information")
    if findings is None:
        return float("nan")
    return float(findings.summary.set_index("metric").loc["weighted_tau", "value"])


def _correlation(
    question: str, folders: Sequence[Path], x: tuple[str, Number], y: tuple[str, Number], seed: int
) -> Correlation:
    points = _points(folders, x, y)
    known = points.dropna()
    for name in (x[0], y[0]):
        if len(known) >= 3 and known[name].nunique() == 1:
            raise InputError(
                f"{question} The models all have the same {name}, {known[name].iloc[0]:.3f}: "
                "there is nothing to correlate."
            )
    if len(known) < 3:
        raise InputError(
            f"{question} Needs at least three models with both numbers ({x[0]}; {y[0]}), got "
            f"{len(known)} of {len(points)} in {len(folders)} run(s); seeds of one model count "
            "once. Run more models or corpora, with the audits that give these numbers."
        )
    tau = kendall_with_interval(known[x[0]].to_numpy(), known[y[0]].to_numpy(), question, seed)
    return Correlation(question, x[0], y[0], points, *tau)


def _points(folders: Sequence[Path], x: tuple[str, Number], y: tuple[str, Number]) -> pd.DataFrame:
    """One line per model: the means of both numbers over its seeds that have both, and their count.

    Seeds of one model are not independent points. A training that was audited several times counts
    once, each number from the first of its runs that has it.
    """
    # Label of a model -> training -> both numbers.
    trainings: dict[str, dict[str, tuple[float, float]]] = {}
    for folder, identity in zip(folders, identities(folders), strict=True):
        results = store.open_results(folder)  # only its summary is read
        of_model = trainings.setdefault(identity.label, {})
        before = of_model.get(identity.training, (math.nan, math.nan))
        new = x[1](folder, results), y[1](folder, results)
        of_model[identity.training] = (
            _first_known(before[0], new[0]),
            _first_known(before[1], new[1]),
        )
    lines = []
    for label, of_model in trainings.items():
        numbers = np.array(list(of_model.values()))
        both = numbers[~np.isnan(numbers).any(1)]
        # A model without a seed that has both numbers is not a point, but is still listed.
        means = (both if len(both) else numbers).mean(0)
        lines.append({"model": label, "runs": len(both), x[0]: means[0], y[0]: means[1]})
    return pd.DataFrame(lines)


def kendall_with_interval(
    x: np.ndarray, y: np.ndarray, name: str, seed: int
) -> tuple[float, float, float, float]:
    """Kendall's tau-b of x (n,) and y (n,), its bootstrap interval over points, and its p-value."""
    pair = torch.from_numpy(np.stack([x, y]))[:, None]
    mask = torch.ones(1, len(x), dtype=torch.bool)
    tau, p = statistics.kendall(pair[0], pair[1], mask)
    draw = np.random.default_rng(randomness.derive(seed, name))
    index = torch.from_numpy(draw.integers(len(x), size=(RESAMPLES, len(x))))
    drawn = statistics.kendall(pair[0, 0][index], pair[1, 0][index], mask.expand(RESAMPLES, -1))[0]
    return float(tau[0]), *percentile_ends(float(tau[0]), drawn.numpy()), float(p[0])


def _first_known(value: float, other: float) -> float:
    return other if math.isnan(value) else value
