"""The tables of Jain & Wallace 2019: corpus counts, performance, tau by class."""

from __future__ import annotations

from collections.abc import Iterator

from attnaudit.papers.finished_cells import FinishedCells
from attnaudit.papers.item import Number
from attnaudit.papers.jain_wallace_2019.trained_models import MEASURES
from attnaudit.papers.run_numbers import (
    corpus_counts,
    tau_by_class,
)


def table1(cells: FinishedCells) -> Iterator[Number]:
    """Counts of the corpus and test performance: F1 for two classes, accuracy otherwise."""
    yield from corpus_counts(cells)
    run = cells.one(encoder="bilstm")
    metric = "f1" if len(run.classes) == 2 else "accuracy"
    yield Number(metric, run.performance[metric])


def table2(cells: FinishedCells) -> Iterator[Number]:
    """tau of attention with gradients and leaving out, by predicted class."""
    yield from tau_by_class(cells.runs, MEASURES, "encoder", "scorer", "projection")
