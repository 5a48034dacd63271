"""Wiegreffe & Pinter 2019, "Attention is not not Explanation".

Of this paper the sources at hand carry its experiments and two of its objections, but none of its
numbers, so that nothing published stands next to ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from attnaudit.papers.finished_cells import FinishedCells
from attnaudit.papers.item import Item, Number, Plan, Table
from attnaudit.papers.jain_wallace_2019.trained_models import CLASSIFICATION, MEASURES, PRESET
from attnaudit.papers.jain_wallace_2019.trained_models import models as base_models
from attnaudit.report.figures.adversarial_curve import adversarial_curve
from attnaudit.report.figures.seed_violins import seed_violins
from attnaudit.training.interventions.answers import MATTERS

CONTEXT_FREE = "average"
_UNIFORM_IS_ENOUGH = ("newsgroups", "ag_news")  # as Neely & Schouten 2020 cite the paper


def with_intervention(intervention: str):  # type: ignore[no-untyped-def]
    """The BiLSTM of Jain & Wallace, and an intervention on it."""

    def tables(plan: Plan) -> list[Table]:
        return [{**table, "interventions": [intervention]} for table in base_models(plan)]

    return tables


def uniform(cells: FinishedCells) -> Iterator[Number]:
    """F1 and accuracy, trained with attention and with uniform attention, and the loss."""
    summary = cells.findings("uniform", cells.runs[0]).summary
    for line in summary.itertuples():
        keys = {"score": str(line.metric)}
        yield Number("trained", float(line.trained), keys)
        yield Number("uniform", float(line.uniform), keys)
        enough = cells.dataset in _UNIFORM_IS_ENOUGH and line.metric == "f1"
        claim = (-MATTERS, MATTERS) if enough else None
        lost = float(line.difference)
        yield Number("lost", lost, keys, float(line.low), float(line.high), claim=claim)


def seeds(cells: FinishedCells) -> Iterator[Number]:
    """JSD of attention and TVD of outputs between models that differ by seed."""
    summary = cells.findings("seeds", cells.runs[0]).summary
    line = summary[summary["pair"] == "all"].iloc[0]
    for metric, most in (("jsd", math.log(2)), ("tvd", 1.0)):
        low, high = float(line[f"{metric}_low"]), float(line[f"{metric}_high"])
        yield Number(metric, float(line[metric]), {}, low, high, 0.0, most)


def guided_mlp(cells: FinishedCells) -> Iterator[Number]:
    """Scores of a context-free model under four attentions, and what is gained over uniform."""
    summary = cells.findings("guided_mlp", cells.runs[0]).summary
    for line in summary.to_dict("records"):
        keys = {"attention": str(line["attention"]), "score": str(line["metric"])}
        yield Number("reached", float(line["score"]), keys)
        ends = (float(line["low"]), float(line["high"]))
        is_base = line["attention"] == "the base's" and line["metric"] == "f1"
        claim = (0.0, 1.0) if is_base else None
        yield Number("above_uniform", float(line["above uniform"]), keys, *ends, claim=claim)


def curve(cells: FinishedCells) -> Iterator[Number]:
    """JSD and TVD of twins over lam, and of other seeds."""
    summary = cells.findings("adversarial", cells.runs[0]).summary
    for line in summary.to_dict("records"):
        lam = "" if math.isnan(line["lam"]) else f"{line['lam']:g}"
        for metric in ("jsd", "tvd"):
            ends = (float(line[f"{metric}_low"]), float(line[f"{metric}_high"]))
            keys = {"model": str(line["kind"]), "lam": lam}
            yield Number(metric, float(line[metric]), keys, *ends)


def contextual(cells: FinishedCells) -> Iterator[Number]:
    """tau by encoder on texts that both models decide rightly, so that accuracy is equal.

    The objection: tau is hard on contextual models. Then tau is lower where an encoder mixes words,
    whatever the attention is worth.
    """
    free = cells.one(encoder=CONTEXT_FREE)
    for run in cells.runs:
        encoder = run.part("encoder")
        yield Number("accuracy", run.performance["accuracy"], {"encoder": encoder})
        both = _right(run) & _right(free)
        for measure in MEASURES:
            tau, of_free = (
                compared.column("agreement", "tau", measure)[both].mean()
                for compared in (run, free)
            )
            keys = {"encoder": encoder, "measure": measure}
            yield Number("tau_where_both_are_right", float(tau), keys)
            if encoder != CONTEXT_FREE:
                gap = float(tau - of_free)
                yield Number("less_context_free", gap, keys, claim=(-math.inf, 0.0))


def _right(run: Any) -> pd.Series:
    """Whether each text is decided rightly, by its id."""
    examples = run.results.columns.examples.set_index("example_id")
    return examples["predicted"] == examples["label"]


def _of_findings(intervention: str, draw: Any):  # type: ignore[no-untyped-def]
    def figure(cells: Sequence[FinishedCells], table: pd.DataFrame) -> Any:
        return draw(cells[0].findings(intervention, cells[0].runs[0]))

    return figure


ITEMS = (
    Item(
        "uniform",
        "Performance with uniform attention, trained so; none lost on 20 Newsgroups, AG News",
        CLASSIFICATION,
        with_intervention("uniform"),
        uniform,
        PRESET,
    ),
    Item(
        "seeds",
        "Attention of models that differ by seed alone, by the largest weight",
        CLASSIFICATION,
        with_intervention("seeds:count=3"),
        seeds,
        PRESET,
        draw=_of_findings("seeds", seed_violins),
        pictured="the BiLSTM of the first seed and of three others",
    ),
    Item(
        "guided_mlp",
        "A context-free model under uniform, its own, the base's and the twin's attention",
        CLASSIFICATION,
        with_intervention("guided_mlp"),
        guided_mlp,
        PRESET,
    ),
    Item(
        "adversarial",
        "Adversarial twins: JSD of attention against TVD of outputs over lam",
        CLASSIFICATION,
        with_intervention("adversarial"),
        curve,
        PRESET,
        draw=_of_findings("adversarial", adversarial_curve),
        pictured="the BiLSTM, first training; grey is as far as other seeds reach",
    ),
    Item(
        "contextual",
        "tau by encoder at equal accuracy: is tau hard on contextual models?",
        CLASSIFICATION,
        lambda plan: base_models(plan, ("bilstm", "cnn", CONTEXT_FREE)),
        contextual,
        PRESET,
        compares_encoders=True,
    ),
)
