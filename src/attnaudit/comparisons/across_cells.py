"""Across many runs: does what two numbers say of a model go together? One point a run, so it takes several models or corpora."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch

from attnaudit import randomness, statistics, store
from attnaudit.corpus_audits.findings import DONE, read_corpus_findings
from attnaudit.errors import InputError
from attnaudit.results import Results

RESAMPLES = 2000


class Across(NamedTuple):
    """points: one line a run (run, x, y). tau: Kendall's tau-b over the runs with its interval and p-value."""

    question: str
    x: str
    y: str
    points: pd.DataFrame
    tau: float
    low: float
    high: float
    p: float

    def __str__(self) -> str:
        said = f"Kendall's tau between the two columns: {self.tau:.2f} [{self.low:.2f}, {self.high:.2f}], p = {self.p:.2g}, over {len(self.points.dropna())} runs"
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
    for place in sorted(folder.glob("mutual_information*")):
        if (place / DONE).is_file():
            summary = read_corpus_findings(place).summary.set_index("metric")
            return float(summary.loc["weighted_tau", "value"])
    return float("nan")


def _across(
    question: str, folders: Sequence[Path], x: tuple[str, Number], y: tuple[str, Number], seed: int
) -> Across:
    lines = []
    for folder in folders:
        results = store.load_results(folder)
        lines.append({"run": folder.name, x[0]: x[1](folder, results), y[0]: y[1](folder, results)})
    points = pd.DataFrame(lines)
    known = points.dropna()
    for name in (x[0], y[0]):
        if len(known) >= 3 and known[name].nunique() == 1:
            raise InputError(
                f"{question} The runs all have the same {name}, {known[name].iloc[0]:.3f}: nothing to correlate."
            )
    if len(known) < 3:
        raise InputError(
            f"{question} It takes at least three runs with both numbers ({x[0]}; {y[0]}), got {len(known)} of {len(points)}. "
            "Run more cells, with the audits that give these numbers."
        )
    pair = torch.tensor(known[[x[0], y[0]]].to_numpy().T.copy())[:, None]
    whole = torch.ones(1, len(known), dtype=torch.bool)
    tau, p = statistics.kendall(pair[0], pair[1], whole)
    draw = np.random.default_rng(randomness.derive(seed, question))
    index = torch.from_numpy(draw.integers(len(known), size=(RESAMPLES, len(known))))
    drawn = statistics.kendall(pair[0, 0][index], pair[1, 0][index], whole.expand(RESAMPLES, -1))[0]
    low, high = np.nanquantile(drawn.numpy(), [0.025, 0.975])
    return Across(question, x[0], y[0], points, float(tau[0]), float(low), float(high), float(p[0]))
