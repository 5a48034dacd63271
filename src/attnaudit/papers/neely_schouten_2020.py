"""Neely & Schouten 2020, "Sparse attention is consistent with feature importance".

The released top-k statistic gives random scores .55 to 1.0 (docs/fidelity.md), so its values are to
be read against their floor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.papers.finished_cells import FinishedCells, FinishedRun
from attnaudit.papers.item import Item, Number, Plan, Table
from attnaudit.papers.run_numbers import groups_of, of_mean, parts_of, rank_correlation
from attnaudit.report.figures.tau_densities import tau_densities

PRESET = "neely_schouten"
DATASETS = ("sst", "imdb")
MEASURES = ("gradient", "leave_one_out")
_READINGS = "k=average+all+non_zero+non_zero_of_attention"
CODE = f"top_k_agreement:{_READINGS},fidelity=code"
CORRECTED = f"top_k_agreement:{_READINGS}"
_LISTS = {"softmax": ("average",), "sparsemax": ("all", "non_zero", "non_zero_of_attention")}
_INTERVENTIONS = ["uniform", "adversarial:lams=0.001,seeds=1"]


def models(
    plan: Plan,
    scorers: Sequence[str] = ("additive", "dot"),
    projections: Sequence[str] = ("softmax", "sparsemax"),
    interventions: Sequence[str] = (),
) -> list[Table]:
    """BiLSTMs with the audits of all items, so that items share their runs."""
    return [
        plan.table(
            PRESET,
            encoders=["bilstm"],
            scorers=list(scorers),
            projections=list(projections),
            audits=["agreement", CORRECTED, CODE],
            measures=[*MEASURES, "random"],
            interventions=list(interventions),
        )
    ]


def table1(cells: FinishedCells) -> Iterator[Number]:
    """tau by class; the share of significant texts is the overall one in both, as printed."""
    run = cells.one(scorer="additive", projection="softmax")
    for number, group in groups_of(run):
        for measure in MEASURES:
            keys = {"predicted_class": number, "measure": measure}
            yield of_mean("tau", run.line("agreement", "tau", measure, group), **keys)
            share = run.line("agreement", "significant", measure)
            yield of_mean("significant", share, **keys)


def table2(cells: FinishedCells) -> Iterator[Number]:
    """Top-k tau as released, next to published ones, and corrected."""
    for run in cells.runs:
        parts = parts_of(run, "projection", "scorer")
        for k in _LISTS[parts["projection"]]:
            for number, group in groups_of(run):
                for measure in MEASURES:
                    keys = {"k": k, **parts, "predicted_class": number, "measure": measure}
                    for audit, metric in ((CODE, "top_k_tau"), (CORRECTED, "top_k_tau_corrected")):
                        yield of_mean(metric, run.line(audit, f"tau_{k}", measure, group), **keys)


def densities(scorer: str):  # type: ignore[no-untyped-def]
    """The means behind a figure: attention with both measures, and the measures with each other."""

    def numbers(cells: FinishedCells) -> Iterator[Number]:
        run = cells.one(scorer=scorer, projection="sparsemax")
        for pair in (*MEASURES, "gradient|leave_one_out"):
            for audit, metric in ((CODE, "top_k_tau"), (CORRECTED, "top_k_tau_corrected")):
                yield of_mean(metric, run.line(audit, "tau_non_zero", pair), pair=pair)

    return numbers


def drawn(scorer: str):  # type: ignore[no-untyped-def]
    """Three densities, of the first seed."""

    def draw(cells: Sequence[FinishedCells], table: pd.DataFrame) -> Any:
        run = cells[0].one(scorer=scorer, projection="sparsemax")
        values = {
            label: _values(run, pair)
            for label, pair in (
                ("attention, gradient", "gradient"),
                ("leave one out, gradient", "gradient|leave_one_out"),
                ("attention, leave one out", "leave_one_out"),
            )
        }
        return tau_densities(values, _values(run, "random"))

    return draw


def _values(run: FinishedRun, pair: str) -> np.ndarray:
    """Of the released statistic, one per text, from the column with all its options."""
    columns = run.results.columns
    keys = columns.rows_of(CODE, pair, "tau_non_zero")
    return columns.matrix(keys)[:, 0]


def dependence(cells: FinishedCells) -> Iterator[Number]:
    """Accuracy lost with uniform attention, trained so, and the distance of a trained twin."""
    lost, distances = [], []
    for run in cells.runs:
        keys = parts_of(run, "scorer", "projection")
        uniform = cells.findings("uniform", run).summary.set_index("metric").loc["accuracy"]
        twins = cells.findings("adversarial", run).summary
        twin = twins[twins["kind"] == "twin"].iloc[0]
        lost.append(float(uniform["difference"]))
        distances.append(float(twin["jsd"]))
        yield Number("accuracy_lost", lost[-1], keys, uniform["low"], uniform["high"])
        yield Number("twin_jsd", distances[-1], keys, twin["jsd_low"], twin["jsd_high"])
        yield Number("twin_tvd", float(twin["tvd"]), keys, twin["tvd_low"], twin["tvd_high"])
    tau = rank_correlation(np.array(lost), np.array(distances))
    yield Number("tau_of_lost_with_jsd", tau, claim=(-1.0, 0.0))


def _all_corpora(numbers: pd.DataFrame) -> pd.DataFrame:
    """tau over the models of all corpora, for every seed."""
    lines = []
    for seed, part in numbers.groupby("seed"):
        keys = ["dataset", "scorer", "projection"]
        wide = part[part["scorer"].notna()].pivot(index=keys, columns="metric", values="value")
        tau = rank_correlation(wide["accuracy_lost"].to_numpy(), wide["twin_jsd"].to_numpy())
        lines.append(
            {
                "dataset": "all",
                "seed": seed,
                "metric": "tau_of_lost_with_jsd",
                "value": tau,
                "claim": (-1.0, 0.0),
            }
        )
    blank = dict.fromkeys(("low", "high", "floor", "ceiling"), float("nan"))
    return pd.DataFrame(lines).assign(**blank, texts=0)


ITEMS = (
    Item(
        "table1",
        "tau of attention with gradients and leave-one-out, by class (BiLSTM, softmax)",
        DATASETS,
        lambda plan: models(plan, ("additive",), ("softmax",)),
        table1,
        PRESET,
        published="neely_schouten_2020_table1",
    ),
    Item(
        "table2",
        "Top-k tau, as released and corrected, with both readings of non-zero k",
        DATASETS,
        models,
        table2,
        PRESET,
        published="neely_schouten_2020_table2",
    ),
    Item(
        "figure1",
        "Densities of top-k tau, additive attention: with and between the measures",
        DATASETS,
        lambda plan: models(plan, ("additive",), ("sparsemax",)),
        densities("additive"),
        PRESET,
        draw=drawn("additive"),
        pictured="sparsemax, first training",
    ),
    Item(
        "figure2",
        "The same for scaled dot attention",
        DATASETS,
        lambda plan: models(plan, ("dot",), ("sparsemax",)),
        densities("dot"),
        PRESET,
        draw=drawn("dot"),
        pictured="sparsemax, first training",
    ),
    Item(
        "dependence",
        "Section 7: are twins nearer where attention is needed more? Trained twins and uniform",
        DATASETS,
        lambda plan: models(plan, interventions=_INTERVENTIONS),
        dependence,
        PRESET,
        pool=_all_corpora,
    ),
)
