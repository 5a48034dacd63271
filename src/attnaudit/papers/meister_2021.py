"""Meister et al. 2021, "Is Sparse Attention more Interpretable?"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.core import registry
from attnaudit.papers.finished_cells import FinishedCells, FinishedRun
from attnaudit.papers.item import Item, Number, Plan, Table
from attnaudit.papers.run_numbers import corpus_counts, of_mean, parts_of, rank_correlation
from attnaudit.report.figures.table_points import table_lines, table_points

PRESET = "meister"
DATASETS = ("sst", "newsgroups", "imdb")
ENCODERS = {"bilstm": "additive", "transformer": "dot"}
INPUTS = ("gradient_norm", "leave_one_out")
STATES = ("hidden_gradient", "hidden_leave_one_out")
LAMS = (-5, -1, 0, 0.5, 0.9)  # the paper states no values
SPECTRUM = ("softmax", *(f"sparsegen:lam={lam}" for lam in LAMS), "sparsemax")
_AUDITS = ["agreement", "dispersion:influence=true"]
_DISPERSION = "dispersion:influence=true"
# lam of the twins is not stated; this one moves attention on SST.
_TWINS = [f"adversarial:lams=0.001,start={start},seeds=1" for start in ("base", "scratch")]


def models(
    plan: Plan,
    projections: Sequence[str] = ("softmax", "sparsemax"),
    interventions: Sequence[str] = (),
) -> list[Table]:
    """BiLSTM with additive and Transformer with dot attention, under each projection."""
    return [
        plan.table(
            f"{PRESET}:encoder={encoder}",
            encoders=[encoder],
            scorers=[scorer],
            projections=list(projections),
            audits=_AUDITS,
            # `gradient` next to leave_one_out gives the ceiling.
            measures=["gradient", *INPUTS, *STATES, "random"],
            interventions=list(interventions),
        )
        for encoder, scorer in ENCODERS.items()
    ]


def spectrum(plan: Plan) -> list[Table]:
    """From softmax over sparsegen to sparsemax."""
    return models(plan, plan.few(SPECTRUM[1:], 3) if plan.fast else SPECTRUM)


def _keys(run: FinishedRun) -> dict[str, str]:
    """Encoder and projection, the latter with its options."""
    return {"encoder": run.part("encoder"), "projection": run.details["choices"]["projection"]}


def _lam(run: FinishedRun) -> float:
    """lam of sparsegen; NaN for other projections."""
    name, options = registry.parse(run.details["choices"]["projection"])
    return float(options["lam"]) if name == "sparsegen" else float("nan")


def table1(cells: FinishedCells) -> Iterator[Number]:
    """Entropy of the inputs behind each hidden state."""
    for run in cells.runs:
        line = run.line(_DISPERSION, "entropy_influence", "influence")
        yield of_mean("entropy_influence", line, **_keys(run))


def table2(cells: FinishedCells) -> Iterator[Number]:
    """tau-b over the values of lam, of lam with the mean entropy of gradient_norm."""
    for encoder, scorer in ENCODERS.items():
        runs = [run for run in cells.where(encoder=encoder) if not np.isnan(_lam(run))]
        lams = np.array([_lam(run) for run in runs])
        keys = {"encoder": encoder, "scorer": scorer}
        entropies = [run.line(_DISPERSION, "entropy", "gradient_norm")["mean"] for run in runs]
        yield Number("lam_tau", rank_correlation(lams, np.array(entropies)), keys)


def contextualisation(cells: FinishedCells) -> Iterator[Number]:
    """The same for the inputs behind the states: do sparser models mix their inputs more?"""
    for encoder in ENCODERS:
        runs = [run for run in cells.where(encoder=encoder) if not np.isnan(_lam(run))]
        lams = np.array([_lam(run) for run in runs])
        behind = [run.line(_DISPERSION, "entropy_influence", "influence")["mean"] for run in runs]
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
    for encoder in ENCODERS:
        run = cells.one(encoder=encoder)
        for intervention, setting in zip(_TWINS, ("frozen", "unfrozen"), strict=True):
            summary = cells.findings(intervention, run).summary
            twin = summary[summary["kind"] == "twin"].iloc[0]
            keys = {"encoder": encoder, "setting": setting}
            yield Number("jsd", float(twin["jsd"]), keys, twin["jsd_low"], twin["jsd_high"])
            yield Number("tvd", float(twin["tvd"]), keys, twin["tvd_low"], twin["tvd_high"])
            yield Number("accuracy", float(twin["accuracy"]), keys)
            yield Number("accuracy_gained", -float(twin["accuracy_lost"]), keys)


def tau_with(*measures: str):  # type: ignore[no-untyped-def]
    """tau of attention with the importance of inputs and of states."""

    def numbers(cells: FinishedCells) -> Iterator[Number]:
        for run in cells.runs:
            for measure in measures:
                line = run.line("agreement", "tau", measure)
                yield of_mean("tau", line, **_keys(run), measure=measure)

    return numbers


def entropies(cells: FinishedCells) -> Iterator[Number]:
    """Entropy of attention and of the importance of inputs, for every projection."""
    for run in cells.runs:
        for measure in ("attention", *INPUTS):
            line = run.line(_DISPERSION, "entropy", measure)
            yield of_mean("entropy", line, **_keys(run), measure=measure)


def appendix_a(cells: FinishedCells) -> Iterator[Number]:
    """tau of influence by the length of a state with influence by all its numbers."""
    for run in cells.runs:
        line = run.line("agreement:of=influence", "tau", "influence:per_facet=true")
        number = of_mean("tau", line, **_keys(run))
        yield Number(
            **{**vars(number), "claim": (0.9, 1.0)}  # "nearly identical"
        )


def _appendix_a_models(plan: Plan) -> list[Table]:
    measures = ["influence", "influence:per_facet=true"]
    return [
        {**table, "audits": ["agreement:of=influence"], "measures": measures}
        for table in models(plan)
    ]


def _by_model(cells: Sequence[FinishedCells], table: pd.DataFrame) -> Any:
    """Figures 1, 2 and 4: a point per model and measure."""
    projections = table["projection"].str.replace(":lam=", " ")
    named = table.assign(model=table["encoder"] + ", " + projections)
    return table_points(named, "model", "measure", named["metric"].iloc[0])


def _over_lam(cells: Sequence[FinishedCells], table: pd.DataFrame) -> Any:
    """Figure 3: tau against lam, a line per model and measure."""
    swept = table[table["projection"].str.startswith("sparsegen")]
    lams = swept["projection"].str.removeprefix("sparsegen:lam=").astype(float)
    named = swept.assign(lam=lams, line=swept["encoder"] + ", " + swept["measure"])
    return table_lines(named, "lam", "line", "tau with attention")


_TABLE6 = "meister_2021_table6"

ITEMS = (
    Item(
        "table1",
        "Entropy of the inputs behind each hidden state",
        DATASETS,
        models,
        table1,
        PRESET,
        published="meister_2021_table1",
    ),
    Item(
        "table2",
        "tau-b of lam of sparsegen with the entropy of the importance of inputs",
        DATASETS,
        spectrum,
        table2,
        PRESET,
        published="meister_2021_table2",
    ),
    Item(
        "table3",
        "Corpus sizes and test accuracy",
        DATASETS,
        lambda plan: models(plan, ("softmax",)),
        table3,
        PRESET,
        published="meister_2021_table3",
    ),
    Item(
        "table5",
        "JSD and accuracy of adversarial twins, frozen and free",
        DATASETS,
        lambda plan: models(plan, ("softmax",), _TWINS),
        table5,
        PRESET,
        published="meister_2021_table5",
    ),
    Item(
        "table6",
        "tau of attention with the importance of inputs and of hidden states",
        DATASETS,
        models,
        tau_with(*INPUTS, *STATES),
        PRESET,
        published=_TABLE6,
    ),
    Item(
        "figure1",
        "tau with gradients of inputs and of hidden states, by model",
        DATASETS,
        models,
        tau_with("gradient_norm", "hidden_gradient"),
        PRESET,
        published=_TABLE6,
        draw=_by_model,
    ),
    Item(
        "figure2",
        "Entropy of attention and of the importance of inputs, from softmax to sparsemax",
        DATASETS,
        spectrum,
        entropies,
        PRESET,
        draw=_by_model,
    ),
    Item(
        "figure3",
        "tau of attention with gradient_norm and leave_one_out against lam of sparsegen",
        ("imdb", "sst", "newsgroups"),
        spectrum,
        tau_with(*INPUTS),
        PRESET,
        published=_TABLE6,
        draw=_over_lam,
    ),
    Item(
        "figure4",
        "tau with leaving out inputs and hidden states, by model",
        DATASETS,
        models,
        tau_with("leave_one_out", "hidden_leave_one_out"),
        PRESET,
        published=_TABLE6,
        draw=_by_model,
    ),
    Item(
        "contextualisation",
        "Sparser attention comes with states of more inputs: tau of lam with their entropy",
        DATASETS,
        spectrum,
        contextualisation,
        PRESET,
    ),
    Item(
        "appendix_a",
        "Influence on a state's length and on all its numbers rank inputs nearly identically",
        DATASETS,
        _appendix_a_models,
        appendix_a,
        PRESET,
    ),
)
