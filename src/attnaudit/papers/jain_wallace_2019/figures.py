"""The figures of Jain & Wallace 2019: their numbers and drawings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from attnaudit.core.errors import NotApplicable
from attnaudit.papers.finished_cells import FinishedCells, FinishedRun
from attnaudit.papers.item import Number
from attnaudit.papers.run_numbers import (
    of_mean,
    parts_of,
)
from attnaudit.report.figures.heatmap_pair import heatmap_pair


def figure1(cells: FinishedCells) -> Iterator[Number]:
    """The numbers under the heatmap pair: tau with gradients, median change, change of output."""
    run = cells.one(encoder="bilstm")
    example = shown_example(run)
    place = run.source.columns.ids.index(example["example_id"])
    for metric, audit, column, measure in (
        ("tau", "agreement", "tau", "gradient"),
        ("median_change", "permutation", "tvd_median", ""),
        ("change", "furthest", "tvd", ""),
        ("jsd", "furthest", "jsd", ""),
    ):
        yield Number(metric, float(run.source.need(audit, column, measure)[place]))


def shown_example(run: FinishedRun) -> dict[str, Any]:
    """The text to show: predicted as class 0, of middle length among those the model is sure of.

    Chosen by length and probability alone, so that the numbers under it are not chosen.
    """
    kept = run.results.examples
    kept = kept[[values is not None and len(values) > 0 for values in kept["furthest"]]]
    if not len(kept):
        raise NotApplicable("no text was kept with another attention of the same prediction")
    first = kept[kept["predicted"] == 0]
    kept = first if len(first) else kept
    sure = [max(probs) for probs in kept["probs"]]
    kept = kept.assign(sure=sure, length=[len(tokens) for tokens in kept["tokens"]])
    kept = kept[kept["sure"] >= kept["sure"].median()].sort_values(["length", "example_id"])
    return kept.iloc[len(kept) // 2].to_dict()


def summary_of(audit: str, metric: str):  # type: ignore[no-untyped-def]
    """Numbers of a figure: the mean of a metric of each run, by predicted class."""

    def numbers(cells: FinishedCells) -> Iterator[Number]:
        for run in cells.runs:
            named = next(
                name for name in run.results.about["audits"] if name.split(":")[0] == audit
            )
            parts = parts_of(run, "encoder", "scorer")
            for number, group in enumerate(run.classes if len(run.classes) <= 3 else ()):
                line = run.line(named, metric, group=group)
                yield of_mean(metric, line, **parts, predicted_class=str(number))
            yield of_mean(metric, run.line(named, metric), **parts, predicted_class="all")

    return numbers


OF_FIRST = "the BiLSTM with additive attention, first training"


def drawn_of_first(draw):  # type: ignore[no-untyped-def]
    """A figure of the first seed's BiLSTM."""
    return lambda cells, table: draw(cells[0].pictured(encoder="bilstm", scorer="additive").source)


def heatmaps(cells: Sequence[FinishedCells], table: pd.DataFrame) -> Any:
    """The pair of heatmaps of the first seed."""
    run = cells[0].one(encoder="bilstm")
    numbers = {number.metric: number.value for number in figure1(cells[0])}
    return heatmap_pair(shown_example(run), run.classes, numbers)
