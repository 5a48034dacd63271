"""Jain & Wallace 2019, "Attention is not Explanation".

Two versions of table 2 were published: that of the paper, with models selected on the test set,
and a later one with models selected on dev. The distance between them is the noise of retraining;
any other difference is judged by it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.core.errors import NotApplicable
from attnaudit.papers.finished_cells import FinishedCells, FinishedRun
from attnaudit.papers.item import Item, Number, Plan, Table
from attnaudit.papers.published import published
from attnaudit.papers.run_numbers import (
    corpus_counts,
    of_mean,
    paired_difference,
    parts_of,
    rank_correlation,
    tau_by_class,
)
from attnaudit.report.figures.furthest_histogram import furthest_histogram
from attnaudit.report.figures.furthest_violins import furthest_violins
from attnaudit.report.figures.heatmap_pair import heatmap_pair
from attnaudit.report.figures.permutation_violins import permutation_violins
from attnaudit.report.figures.tau_histograms import tau_histograms

PRESET = "jain_wallace"
CLASSIFICATION = (
    *("sst", "imdb", "adr_tweets", "newsgroups", "ag_news"),
    *("mimic:task=diabetes", "mimic:task=anemia"),
)
ANSWERING = ("cnn_qa", "babi_files:task=1", "babi_files:task=2", "babi_files:task=3")
DATASETS = (*CLASSIFICATION, *ANSWERING, "snli")
MEASURES = ("gradient", "leave_one_out")


def models(
    plan: Plan, encoders: Sequence[str] = ("bilstm",), scorers: Sequence[str] = ("additive",)
) -> list[Table]:
    """The paper's models with the audits of all its items, so that items share their runs.

    The epsilon of `furthest` is 0.01, and 0.05 for question answering. bAbI's CNN has 8 filters.
    """
    answering = plan.name in ("cnn_qa", "babi", "babi_files")
    furthest = "furthest:epsilon=0.05" if answering else "furthest"
    small = plan.name.startswith("babi")
    return [
        plan.table(
            PRESET,
            encoders=["cnn:filters=8" if small and name == "cnn" else name for name in encoders],
            scorers=list(scorers),
            audits=["agreement", "permutation", furthest],
            measures=[*MEASURES, "random"],
        )
    ]


def table1(cells: FinishedCells) -> Iterator[Number]:
    """Counts of the corpus and test performance: F1 for two classes, accuracy otherwise."""
    yield from corpus_counts(cells)
    run = cells.one(encoder="bilstm")
    metric = "f1" if len(run.classes) == 2 else "accuracy"
    yield Number(metric, run.performance[metric])


def table2(cells: FinishedCells) -> Iterator[Number]:
    """tau of attention with gradients and leaving out, by predicted class."""
    yield from tau_by_class(cells.runs, MEASURES, "encoder", "scorer", "projection")


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


def drawn_of_first(draw):  # type: ignore[no-untyped-def]
    """A figure of the first seed's BiLSTM."""
    return lambda cells, table: draw(cells[0].one(encoder="bilstm", scorer="additive").source)


def heatmaps(cells: Sequence[FinishedCells], table: pd.DataFrame) -> Any:
    """The pair of heatmaps of the first seed."""
    run = cells[0].one(encoder="bilstm")
    numbers = {number.metric: number.value for number in figure1(cells[0])}
    return heatmap_pair(shown_example(run), run.classes, numbers)


# What "comparable" may mean: the two published versions of a tau differ by this much on average.
def _noise() -> float:
    table = published("jain_wallace_2019_table2")
    taus = table[table["metric"] == "tau"]
    return float((taus["value"] - taus["other"]).abs().mean())


NOISE = round(_noise(), 2)


def difference(first: dict[str, str], second: dict[str, str], claim: tuple[float, float]):  # type: ignore[no-untyped-def]
    """Numbers of a claim: mean over texts of tau of one model less that of another."""

    def numbers(cells: FinishedCells) -> Iterator[Number]:
        for measure in MEASURES:
            taus = [
                cells.one(**parts).column("agreement", "tau", measure) for parts in (first, second)
            ]
            value = paired_difference(*taus)
            yield Number("tau_difference", value, {"measure": measure}, claim=claim)

    return numbers


def by_class(cells: FinishedCells) -> Iterator[Number]:
    """Diabetes: positives change more when shuffled, and leave less room for other attention."""
    run = cells.one(encoder="bilstm")
    negative, positive = run.classes[:2]
    for metric, audit, column, claim in (
        ("median_change", "permutation", "tvd_median", (0.0, math.inf)),
        ("furthest_jsd", "furthest", "jsd", (-math.inf, 0.0)),
    ):
        lines = [run.line(audit, column, group=group)["mean"] for group in (positive, negative)]
        yield Number(f"{metric}_positive_less_negative", lines[0] - lines[1], claim=claim)


def trend(cells: FinishedCells) -> Iterator[Number]:
    """tau over texts of the largest weight with the furthest JSD: negative, but weak."""
    run = cells.one(encoder="bilstm")
    peak = run.source.need("permutation", "max_attention")
    tau = rank_correlation(peak, run.source.need("furthest", "jsd"))
    yield Number("tau_of_peak_with_jsd", tau, claim=(-0.5, 0.0))


def by_length(cells: FinishedCells) -> Iterator[Number]:
    """tau over texts of length with significance, and with tau itself."""
    run = cells.one(encoder="bilstm")
    lengths = run.results.columns.examples["length"].to_numpy(dtype=float)
    for measure in MEASURES:
        significant = run.source.need("agreement", "significant", measure)
        value = rank_correlation(lengths, significant)
        keys = {"measure": measure}
        yield Number("tau_of_length_with_significance", value, keys, claim=(0.0, 1.0))
        tau = run.source.need("agreement", "tau", measure)
        size = rank_correlation(lengths, np.abs(tau))
        yield Number("tau_of_length_with_size_of_tau", size, keys)


_BILSTM = {"encoder": "bilstm", "scorer": "additive"}
_ALL = ("bilstm", "average", "cnn")
_OTHER_TEXT = {"": "the published numbers are of another text"}

ITEMS = (
    Item(
        "table1",
        "Corpus counts and test performance (F1, or accuracy) of the BiLSTM",
        DATASETS,
        models,
        table1,
        PRESET,
        published="jain_wallace_2019_table1",
    ),
    Item(
        "table2",
        "tau of attention with gradients and leave-one-out, by class; both published versions",
        DATASETS,
        lambda plan: models(plan, ("bilstm", "average")),
        table2,
        PRESET,
        published="jain_wallace_2019_table2",
    ),
    Item(
        "table2_all",
        "Table 2 for every encoder with both scorers, which the paper has online only",
        DATASETS,
        lambda plan: models(plan, _ALL, ("additive", "dot")),
        table2,
        PRESET,
        published="jain_wallace_2019_table2",
    ),
    Item(
        "figure1",
        "A heatmap next to other attention with the same prediction: tau, median change",
        ("imdb", "sst"),
        models,
        figure1,
        PRESET,
        published="jain_wallace_2019_figure1",
        draw=heatmaps,
        impossible=_OTHER_TEXT,
    ),
    Item(
        "figure2",
        "Histograms of tau with gradients, by class",
        DATASETS,
        lambda plan: models(plan, ("bilstm", "average")),
        table2,
        PRESET,
        draw=drawn_of_first(tau_histograms),
    ),
    Item(
        "figure3",
        "Median change of the output under shuffled attention, against the largest weight",
        DATASETS,
        models,
        summary_of("permutation", "tvd_median"),
        PRESET,
        draw=drawn_of_first(permutation_violins),
    ),
    Item(
        "figure4",
        "Histograms of the furthest attention with the same prediction (epsilon-max JSD)",
        DATASETS,
        models,
        summary_of("furthest", "jsd"),
        PRESET,
        draw=drawn_of_first(furthest_histogram),
    ),
    Item(
        "figure5",
        "Furthest attention against the largest weight",
        DATASETS,
        models,
        summary_of("furthest", "jsd"),
        PRESET,
        draw=drawn_of_first(furthest_violins),
    ),
    Item(
        "appendix_c",
        "Heatmap pairs for every corpus, with the change of the output",
        DATASETS,
        models,
        figure1,
        PRESET,
        published="jain_wallace_2019_appendix_c",
        draw=heatmaps,
        impossible=_OTHER_TEXT,
    ),
    Item(
        "claim_cnn",
        f"CNN encoders are comparable: tau differs from the BiLSTM's by at most {NOISE}",
        DATASETS,
        lambda plan: models(plan, ("bilstm", "cnn")),
        difference({**_BILSTM, "encoder": "cnn"}, _BILSTM, (-NOISE, NOISE)),
        PRESET,
    ),
    Item(
        "claim_dot",
        f"Scaled dot attention is comparable: tau differs from additive's by at most {NOISE}",
        DATASETS,
        lambda plan: models(plan, ("bilstm",), ("additive", "dot")),
        difference({**_BILSTM, "scorer": "dot"}, _BILSTM, (-NOISE, NOISE)),
        PRESET,
    ),
    Item(
        "claim_average",
        "Average encoders have much higher tau than the BiLSTM",
        DATASETS,
        lambda plan: models(plan, ("bilstm", "average")),
        difference({**_BILSTM, "encoder": "average"}, _BILSTM, (NOISE, 2.0)),
        PRESET,
    ),
    Item(
        "claim_diabetes",
        "Diabetes: positives are sensitive to other attention, negatives are not",
        ("mimic:task=diabetes",),
        models,
        by_class,
        PRESET,
    ),
    Item(
        "claim_trend",
        "Peaky attention leaves less room for other attention, but only weakly so (figure 5)",
        DATASETS,
        models,
        trend,
        PRESET,
    ),
    Item(
        "claim_length",
        "Whether tau is significant depends on the length of the text",
        DATASETS,
        models,
        by_length,
        PRESET,
    ),
)
