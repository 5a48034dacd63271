"""Correlate two numbers across models: one point per model, so it takes several models or corpora."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch

from attnaudit import statistics
from attnaudit.core import randomness
from attnaudit.core.errors import InputError
from attnaudit.results import store
from attnaudit.results.findings import find_corpus_audit
from attnaudit.results.results import Results
from attnaudit.statistics.interval_ends import percentile_ends
from attnaudit.training.comparisons.same_model import identities

RESAMPLES = 2000


class Across(NamedTuple):
    """points: one line per model (model, runs, x, y). tau: Kendall's tau-b over the models with its interval and p-value."""

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
        said = f"Kendall's tau between the two columns: {interval}, over {counts}"
        return f"{self.question}\n{self.points.to_string(index=False, float_format='{:.3f}'.format)}\n{said}"


def dependence(folders: Sequence[Path], *, seed: int = 0) -> Across:
    """Do models that lose more without attention leave less room for another attention with the same prediction? (Neely & Schouten §7)

    x: accuracy lost under uniform attention; y: the furthest equivalent attention as a share of the furthest possible, the strongest
    adversary there is. A negative tau: where attention is needed, it is pinned down.
    """
    return _across(
        "Do models that need their attention leave less room for another?",
        folders,
        ("accuracy lost under uniform attention", _mean("uniform_attention", "accuracy_drop")),
        ("furthest equivalent attention, share", _mean("furthest", "jsd_share")),
        seed,
    )


def uniformity(folders: Sequence[Path], *, seed: int = 0) -> Across:
    """Is attention that is spread out less informative by rank? (Wen et al. 2022, finding iii)

    x: mean entropy of attention, 1 = uniform; y: weighted tau between attention and information, of `attnaudit corpus-audit`.
    """
    return _across(
        "Is attention that is spread out less informative by rank?",
        folders,
        ("entropy of attention", _mean("dispersion", "entropy", "attention")),
        ("weighted tau with information", _weighted_tau),
        seed,
    )


QUESTIONS = {"dependence": dependence, "uniformity": uniformity}
Number = Callable[[Path, Results], float]


def _mean(audit: str, metric: str, measure: str = "") -> Number:
    def read(folder: Path, results: Results) -> float:
        return results.mean(audit, metric, measure)

    return read


def _weighted_tau(folder: Path, results: Results) -> float:
    """Of the first mutual information found in the run's folder."""
    findings = find_corpus_audit(folder, "mutual_information")
    if findings is None:
        return float("nan")
    return float(findings.summary.set_index("metric").loc["weighted_tau", "value"])


def _across(
    question: str, folders: Sequence[Path], x: tuple[str, Number], y: tuple[str, Number], seed: int
) -> Across:
    points = _points(folders, x, y)
    known = points.dropna()
    for name in (x[0], y[0]):
        if len(known) >= 3 and known[name].nunique() == 1:
            raise InputError(
                f"{question} The models all have the same {name}, {known[name].iloc[0]:.3f}: nothing to correlate."
            )
    if len(known) < 3:
        raise InputError(
            f"{question} It takes at least three models with both numbers ({x[0]}; {y[0]}), got {len(known)} of {len(points)} in "
            f"{len(folders)} run(s); seeds of one model count once. Run more models or corpora, with the audits that give these numbers."
        )
    found = _correlate(known[x[0]].to_numpy(), known[y[0]].to_numpy(), question, seed)
    return Across(question, x[0], y[0], points, *found)


def _points(folders: Sequence[Path], x: tuple[str, Number], y: tuple[str, Number]) -> pd.DataFrame:
    """One line per model: the means of both numbers over its seeds that have both, and how many these are.

    Seeds of one model are no independent points. A training that was audited several times enters once, each number from the first of
    its runs that has it.
    """
    trainings: dict[
        str, dict[str, tuple[float, float]]
    ] = {}  # label of a model -> training -> both numbers
    for folder, identity in zip(folders, identities(folders), strict=True):
        results = store.load_results(folder)
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
        # Without a seed that has both numbers the model is no point; a number that no seed lacks is still shown.
        means = (both if len(both) else numbers).mean(0)
        lines.append({"model": label, "runs": len(both), x[0]: means[0], y[0]: means[1]})
    return pd.DataFrame(lines)


def _correlate(
    x: np.ndarray, y: np.ndarray, name: str, seed: int
) -> tuple[float, float, float, float]:
    """Kendall's tau-b of x (n,) and y (n,), the ends of its interval over resampled points, and its p-value."""
    pair = torch.from_numpy(np.stack([x, y]))[:, None]
    whole = torch.ones(1, len(x), dtype=torch.bool)
    tau, p = statistics.kendall(pair[0], pair[1], whole)
    draw = np.random.default_rng(randomness.derive(seed, name))
    index = torch.from_numpy(draw.integers(len(x), size=(RESAMPLES, len(x))))
    drawn = statistics.kendall(pair[0, 0][index], pair[1, 0][index], whole.expand(RESAMPLES, -1))[0]
    return float(tau[0]), *percentile_ends(float(tau[0]), drawn.numpy()), float(p[0])


def _first_known(value: float, other: float) -> float:
    return other if math.isnan(value) else value
