"""The corpora and models of Meister et al. 2021, and what tells their runs apart."""

from __future__ import annotations

from collections.abc import Sequence

from attnaudit.core import registry
from attnaudit.papers.finished_cells import FinishedRun
from attnaudit.papers.item import Plan, Table

PRESET = "meister"
DATASETS = ("sst", "newsgroups", "imdb")
ENCODERS = {"bilstm": "additive", "transformer": "dot"}
INPUTS = ("gradient_norm", "leave_one_out")
STATES = ("hidden_gradient", "hidden_leave_one_out")
LAMS = (-5, -1, 0, 0.5, 0.9)  # the paper states no values
SPECTRUM = ("softmax", *(f"sparsegen:lam={lam}" for lam in LAMS), "sparsemax")
DISPERSION = "dispersion"
INFLUENCE = "dispersion:influence=true"  # a backward pass per word: only where an item needs it
# lam of the twins is not stated; this one moves attention on SST.
TWINS = [f"adversarial:lams=0.001,start={start},seeds=1" for start in ("base", "scratch")]


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
            audits=["agreement", DISPERSION],
            # `gradient` next to leave_one_out gives the ceiling.
            measures=["gradient", *INPUTS, *STATES, "random"],
            interventions=list(interventions),
        )
        for encoder, scorer in ENCODERS.items()
    ]


def spectrum(plan: Plan) -> list[Table]:
    """From softmax over sparsegen to sparsemax."""
    return models(plan, plan.few(SPECTRUM[1:], 3) if plan.fast else SPECTRUM)


def with_influence(tables: Sequence[Table]) -> list[Table]:
    """The same models, audited for the inputs behind their hidden states alone."""
    return [{**table, "audits": [INFLUENCE], "measures": ["random"]} for table in tables]


def model_keys(run: FinishedRun) -> dict[str, str]:
    """Encoder and projection, the latter with its options."""
    return {"encoder": run.part("encoder"), "projection": run.details["choices"]["projection"]}


def lam_of(run: FinishedRun) -> float:
    """lam of sparsegen; NaN for other projections."""
    name, options = registry.parse(run.details["choices"]["projection"])
    return float(options["lam"]) if name == "sparsegen" else float("nan")


def appendix_a_models(plan: Plan) -> list[Table]:
    measures = ["influence", "influence:per_facet=true"]
    return [
        {**table, "audits": ["agreement:of=influence"], "measures": measures}
        for table in models(plan)
    ]
