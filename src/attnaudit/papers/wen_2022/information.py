"""Weighted tau of information with attention: of nine models, over trainings, against entropy."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.core.errors import NotApplicable
from attnaudit.papers.finished_cells import FinishedCells, FinishedRun
from attnaudit.papers.item import Number
from attnaudit.papers.run_numbers import of_mean, parts_of, rank_correlation
from attnaudit.report.figures.table_points import boxes_by_group


def tau_of(run: FinishedRun) -> Number:
    """Weighted tau of information with attention; NaN if it is undefined."""
    try:
        summary = run.information().summary.set_index("metric").loc["weighted_tau"]
    except NotApplicable:
        return Number("weighted_tau", math.nan)
    ends = (float(summary["low"]), float(summary["high"]))
    return Number("weighted_tau", float(summary["value"]), {}, *ends, float(summary["floor"]), 1.0)


def with_keys(number: Number, **keys: str) -> Number:
    return Number(**{**vars(number), "keys": keys})


def figure2(cells: FinishedCells) -> Iterator[Number]:
    """Weighted tau of every model."""
    for run in cells.runs:
        yield with_keys(tau_of(run), **parts_of(run, "encoder", "scorer"))


def draw_figure2(cells: Sequence[FinishedCells], table: pd.DataFrame) -> Any:
    """Boxes over trainings, by scorer and encoder."""
    values = [
        {"encoder": line["encoder"], "scorer": line["scorer"], "value": value}
        for line in table.to_dict("records")
        for value in json.loads(line["by_training"])
        if value is not None
    ]
    return boxes_by_group(pd.DataFrame(values), "scorer", "encoder", "weighted tau")


def mean_taus(numbers: pd.DataFrame) -> pd.DataFrame:
    """Means over all corpora, by model and by scorer, for every seed."""
    taus = numbers[numbers["metric"] == "weighted_tau"]
    by_model = taus.groupby(["seed", "encoder", "scorer"], as_index=False)["value"].mean()
    by_scorer = taus.groupby(["seed", "scorer"], as_index=False)["value"].mean()
    means = pd.concat([by_model, by_scorer.assign(encoder="all")], ignore_index=True)
    return pooled_lines(means.assign(metric="weighted_tau"))


def seed_noise(cells: FinishedCells) -> Iterator[Number]:
    """Weighted tau of BiLSTM with additive attention; `noise_of_seeds` takes differences."""
    yield tau_of(cells.runs[0])


def noise_of_seeds(numbers: pd.DataFrame) -> pd.DataFrame:
    """Absolute differences between trainings: mean over corpora, and the largest."""
    gaps = [
        [abs(a - b) for a, b in combinations(part["value"].dropna(), 2)]
        for _, part in numbers.groupby("dataset")
    ]
    means = [float(np.mean(gap)) for gap in gaps if gap]
    values = {
        "mean_difference": float(np.mean(means)) if means else math.nan,
        "largest_difference": max(means, default=math.nan),
    }
    lines = [{"seed": 0, "metric": name, "value": value} for name, value in values.items()]
    return pooled_lines(pd.DataFrame(lines))


def uniformity(cells: FinishedCells) -> Iterator[Number]:
    """tau over models of the entropy of attention with weighted tau: negative in the paper."""
    entropies, taus = [], []
    for run in cells.runs:
        keys = parts_of(run, "encoder", "scorer")
        line = run.line("dispersion", "entropy", "attention")
        entropies.append(line["mean"])
        taus.append(tau_of(run).value)
        yield of_mean("entropy", line, **keys)
    tau = rank_correlation(np.array(entropies), np.array(taus))
    yield Number("tau_of_entropy_with_weighted_tau", tau, claim=(-1.0, 0.0))


def pooled_lines(lines: pd.DataFrame) -> pd.DataFrame:
    blank = dict.fromkeys(("low", "high", "floor", "ceiling"), math.nan)
    return lines.assign(dataset="all", **blank, texts=0, claim=None)
