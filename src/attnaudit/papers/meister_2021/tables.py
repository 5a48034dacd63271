"""The tables of Meister et al. 2021, and the claims next to them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attnaudit.papers.finished_cells import FinishedCells
from attnaudit.papers.item import Number
from attnaudit.papers.meister_2021.trained_models import (
    DISPERSION,
    INFLUENCE,
    TWINS,
    lam_of,
    model_keys,
)
from attnaudit.papers.run_numbers import corpus_counts, of_mean, parts_of, rank_correlation


def table1(cells: FinishedCells) -> Iterator[Number]:
    """Entropy of the inputs behind each hidden state."""
    for run in cells.runs:
        line = run.line(INFLUENCE, "entropy_influence", "influence")
        yield of_mean("entropy_influence", line, **model_keys(run))


def table2(cells: FinishedCells) -> Iterator[Number]:
    """tau-b over the values of lam, of lam with the mean entropy of gradient_norm."""
    for encoder in cells.encoders():
        runs = [run for run in cells.where(encoder=encoder) if not np.isnan(lam_of(run))]
        lams = np.array([lam_of(run) for run in runs])
        keys = parts_of(runs[0], "encoder", "scorer")
        entropies = [run.line(DISPERSION, "entropy", "gradient_norm")["mean"] for run in runs]
        yield Number("lam_tau", rank_correlation(lams, np.array(entropies)), keys)


def contextualisation(cells: FinishedCells) -> Iterator[Number]:
    """The same for the inputs behind the states: do sparser models mix their inputs more?"""
    for encoder in cells.encoders():
        runs = [run for run in cells.where(encoder=encoder) if not np.isnan(lam_of(run))]
        lams = np.array([lam_of(run) for run in runs])
        behind = [run.line(INFLUENCE, "entropy_influence", "influence")["mean"] for run in runs]
        tau = rank_correlation(lams, np.array(behind))
        yield Number("lam_tau", tau, {"encoder": encoder}, claim=(0.0, 1.0))
    yield from table1(cells)


def table3(cells: FinishedCells) -> Iterator[Number]:
    """Sizes of the corpus, and accuracy of both models."""
    for number in corpus_counts(cells):
        if number.metric in ("train", "test"):
            yield Number(number.metric, number.value, {"encoder": ""})
    for run in cells.runs:
        yield Number("accuracy", run.performance["accuracy"], parts_of(run, "encoder"))


def table5(cells: FinishedCells) -> Iterator[Number]:
    """JSD and accuracy of twins with everything but the attention frozen, and of free ones."""
    for encoder in cells.encoders():
        run = cells.one(encoder=encoder)
        for intervention, setting in zip(TWINS, ("frozen", "unfrozen"), strict=True):
            summary = cells.findings(intervention, run).summary
            twin = summary[summary["kind"] == "twin"].iloc[0]
            keys = {"encoder": encoder, "setting": setting}
            yield Number("jsd", float(twin["jsd"]), keys, twin["jsd_low"], twin["jsd_high"])
            yield Number("tvd", float(twin["tvd"]), keys, twin["tvd_low"], twin["tvd_high"])
            yield Number("accuracy", float(twin["accuracy"]), keys)
            yield Number("accuracy_gained", -float(twin["accuracy_lost"]), keys)


def appendix_a(cells: FinishedCells) -> Iterator[Number]:
    """tau of influence by the length of a state with influence by all its numbers."""
    for run in cells.runs:
        line = run.line("agreement:of=influence", "tau", "influence:per_facet=true")
        number = of_mean("tau", line, **model_keys(run))
        yield Number(
            **{**vars(number), "claim": (0.9, 1.0)}  # "nearly identical"
        )
