"""Wen et al. 2022, "Revisiting Attention Weights as Explanations from an Information Theoretic …".

Their code, like the released code of Wiegreffe & Pinter, halves the two-class TVD, so their lam is
half of ours. The paper does not say whether the TVD of table 3 is halved too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.core.errors import NotApplicable
from attnaudit.data.corpus_info import corpus_of
from attnaudit.papers.finished_cells import FinishedCells, FinishedRun
from attnaudit.papers.item import Item, Number, Plan, Table
from attnaudit.papers.published import published
from attnaudit.papers.run_numbers import corpus_counts, of_mean, parts_of, rank_correlation
from attnaudit.report.figures.table_points import boxes_by_group

PRESET = "wen"
CLASSIFICATION = (
    *("sst", "imdb", "adr_tweets", "newsgroups", "ag_news"),
    *("mimic:task=diabetes", "mimic:task=anemia"),
)
ANSWERING = ("babi_files:task=1", "babi_files:task=2", "babi_files:task=3")
DATASETS = (*CLASSIFICATION, *ANSWERING, "snli")
ENCODERS = ("bilstm:hidden=128", "cnn:kernels=1-3-5-7-15,filters=128", "mlp:hidden=128")
# Scaled with a query (eq. 1) and not without one (eq. 5): see `models`.
SCORERS = ("additive", "deep", "dot")
SEED_NOISE = 0.05  # the largest difference between trainings that the paper states
_FIXED = ("fix_attention", "fix_attention:constant=uniform", "fix_representation")
_TASKS = {"classification": 21, "question answering": 9, "inference": 3}


def models(
    plan: Plan,
    encoders: Sequence[str] = ENCODERS[:1],
    scorers: Sequence[str] = SCORERS[:1],
    projections: Sequence[str] = ("softmax",),
    interventions: Sequence[str] = (),
) -> list[Table]:
    """The paper's models; information is measured on the finished runs."""
    unscaled = "dot" if plan.has_query else "dot:scaled=false"
    return [
        plan.table(
            PRESET,
            encoders=list(encoders),
            scorers=[unscaled if name == "dot" else name for name in scorers],
            projections=list(projections),
            audits=["dispersion"],
            measures=["random"],
            interventions=list(interventions),
        )
    ]


def all_models(plan: Plan, projections: Sequence[str] = ("softmax",)) -> list[Table]:
    """Nine models: three encoders with three scorers."""
    return models(plan, plan.few(ENCODERS), plan.few(SCORERS), projections)


def tau_of(run: FinishedRun) -> Number:
    """Weighted tau of information with attention; NaN if it is undefined."""
    try:
        summary = run.information().summary.set_index("metric").loc["weighted_tau"]
    except NotApplicable:
        return Number("weighted_tau", math.nan)
    ends = (float(summary["low"]), float(summary["high"]))
    return Number("weighted_tau", float(summary["value"]), {}, *ends, float(summary["floor"]), 1.0)


def _named(number: Number, **keys: str) -> Number:
    return Number(**{**vars(number), "keys": keys})


def table1(cells: FinishedCells) -> Iterator[Number]:
    """Corpus counts, and accuracy of BiLSTM with additive attention."""
    yield from corpus_counts(cells)
    yield Number("accuracy", cells.runs[0].performance["accuracy"])


def figure2(cells: FinishedCells) -> Iterator[Number]:
    """Weighted tau of every model."""
    for run in cells.runs:
        yield _named(tau_of(run), **parts_of(run, "encoder", "scorer"))


def _draw_figure2(cells: Sequence[FinishedCells], table: pd.DataFrame) -> Any:
    """Boxes over trainings, by scorer and encoder."""
    values = [{**number.keys, "value": number.value} for part in cells for number in figure2(part)]
    return boxes_by_group(pd.DataFrame(values), "scorer", "encoder", "weighted tau")


def _means(numbers: pd.DataFrame) -> pd.DataFrame:
    """Means over all corpora, by model and by scorer, for every seed."""
    taus = numbers[numbers["metric"] == "weighted_tau"]
    by_model = taus.groupby(["seed", "encoder", "scorer"], as_index=False)["value"].mean()
    by_scorer = taus.groupby(["seed", "scorer"], as_index=False)["value"].mean()
    means = pd.concat([by_model, by_scorer.assign(encoder="all")], ignore_index=True)
    return _completed(means.assign(metric="weighted_tau"))


def seed_noise(cells: FinishedCells) -> Iterator[Number]:
    """Weighted tau of BiLSTM with additive attention, of which `_noise` takes differences."""
    yield tau_of(cells.runs[0])


def _noise(numbers: pd.DataFrame) -> pd.DataFrame:
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
    return _completed(pd.DataFrame(lines))


def table2(cells: FinishedCells) -> Iterator[Number]:
    """tau of the trained model less that of one with its attention, or its encoder, held."""
    base = cells.runs[0]
    own = tau_of(base)
    for intervention in _FIXED:
        held = cells.run_at(cells.findings(intervention, base).runs[1])
        setting = "fix_attention_uniform" if ":" in intervention else intervention
        value = own.value - tau_of(held).value
        yield Number("delta_tau", value, {"setting": setting})
    yield _named(own, setting="trained")


def _twin(plan: Plan) -> str:
    """The twin of table 3, with twice the published lam; any lam for other corpora."""
    table = published("wen_2022_table3")
    lams = table[table["metric"] == "lam"].set_index("dataset")["value"]
    lam = 2 * float(lams.get(corpus_of(plan.dataset), 5e-4))
    return f"adversarial:lams={lam:g},seeds=2,keep=best_f1"


def twins(cells: FinishedCells) -> Iterator[Number]:
    """Accuracy of the twin, and its distances from the base."""
    summary = cells.findings("adversarial", cells.runs[0]).summary
    twin = summary[summary["kind"] == "twin"].iloc[0]
    yield Number("accuracy", float(twin["accuracy"]))
    for metric in ("tvd", "jsd"):
        low, high = float(twin[f"{metric}_low"]), float(twin[f"{metric}_high"])
        yield Number(metric, float(twin[metric]), {}, low, high)


def table4(cells: FinishedCells) -> Iterator[Number]:
    """tau of the trained model less that of its twin."""
    base = cells.runs[0]
    twin = cells.run_at(cells.findings("adversarial", base).runs[-1])
    yield Number("delta_tau", tau_of(base).value - tau_of(twin).value)


def no_twin(cells: FinishedCells) -> Iterator[Number]:
    """JSD of the twin less that of another seed: no twin was found if it is not above 0."""
    summary = cells.findings("adversarial", cells.runs[0]).summary.set_index("kind")
    value = float(summary.loc["twin", "jsd"] - summary.loc["seed", "jsd"])
    yield Number("twin_jsd_less_seed_jsd", value, claim=(-math.inf, 0.0))
    yield from twins(cells)


def table5(cells: FinishedCells) -> Iterator[Number]:
    """Whether Gumbel-softmax raises weighted tau, or leaves it as it is, for every model."""
    for run in cells.where(projection="softmax"):
        chosen = run.details["choices"]
        same = {part: chosen[part] for part in ("encoder", "scorer")}
        other = cells.one(**same, projection="gumbel_softmax")
        before, after = tau_of(run).value, tau_of(other).value
        keys = parts_of(run, "encoder", "scorer")
        yield Number("weighted_tau_gained", after - before, keys)
        known = not math.isnan(after - before)
        yield Number("raised", float(after >= before) if known else math.nan, keys)


def _counts(numbers: pd.DataFrame) -> pd.DataFrame:
    """How many models Gumbel-softmax raises, by kind of task and scorer."""
    raised = numbers[numbers["metric"] == "raised"].copy()
    raised["task"] = [_task(dataset) for dataset in raised["dataset"]]
    lines = []
    for seed, part in raised.groupby("seed"):
        for task in (*dict.fromkeys(part["task"]), "all"):
            of_task = part if task == "all" else part[part["task"] == task]
            for scorer in (*dict.fromkeys(part["scorer"]), "all"):
                of_both = of_task if scorer == "all" else of_task[of_task["scorer"] == scorer]
                keys = {"seed": seed, "task": task, "scorer": scorer}
                lines.append({**keys, "metric": "raised", "value": of_both["value"].sum()})
                lines.append({**keys, "metric": "models", "value": float(len(of_both))})
    return _completed(pd.DataFrame(lines))


def _task(dataset: str) -> str:
    name = corpus_of(dataset).split(":")[0]
    if name == "snli":
        return "inference"
    return "question answering" if name in ("babi", "cnn_qa") else "classification"


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


def _completed(lines: pd.DataFrame) -> pd.DataFrame:
    blank = dict.fromkeys(("low", "high", "floor", "ceiling"), math.nan)
    return lines.assign(dataset="all", **blank, texts=0, claim=None)


_QUERY = "babi:task=1,train=40,test=16"

ITEMS = (
    Item(
        "table1",
        "Corpus counts, and accuracy of BiLSTM with additive attention",
        DATASETS,
        models,
        table1,
        PRESET,
        published="wen_2022_table1",
    ),
    Item(
        "figure2",
        "Weighted tau of information with attention, nine models; the mean taus of section 5",
        DATASETS,
        all_models,
        figure2,
        PRESET,
        published="wen_2022_mean_tau",
        spread=SEED_NOISE,
        draw=_draw_figure2,
        pool=_means,
    ),
    Item(
        "seed_noise",
        "Difference of weighted tau between trainings: mean and largest",
        DATASETS,
        models,
        seed_noise,
        PRESET,
        published="wen_2022_seed_noise",
        pool=_noise,
    ),
    Item(
        "table2",
        "Loss of weighted tau with attention held (the base's, or uniform) and encoder held",
        DATASETS,
        lambda plan: models(plan, interventions=_FIXED),
        table2,
        PRESET,
        published="wen_2022_table2",
        spread=SEED_NOISE,
    ),
    Item(
        "table3",
        "Adversarial twins: accuracy, TVD, JSD",
        CLASSIFICATION,
        lambda plan: models(plan, interventions=[_twin(plan)]),
        twins,
        PRESET,
        published="wen_2022_table3",
    ),
    Item(
        "table4",
        "Loss of weighted tau in adversarial twins",
        CLASSIFICATION,
        lambda plan: models(plan, interventions=[_twin(plan)]),
        table4,
        PRESET,
        published="wen_2022_table4",
        spread=SEED_NOISE,
    ),
    Item(
        "table5",
        "Models whose weighted tau Gumbel-softmax raises or leaves as it is",
        DATASETS,
        lambda plan: all_models(plan, ("softmax", "gumbel_softmax:temperature=0.8")),
        table5,
        PRESET,
        published="wen_2022_table5",
        pool=_counts,
    ),
    Item(
        "uniformity",
        "Attention that is spread out has a lower weighted tau (finding iii)",
        DATASETS,
        all_models,
        uniformity,
        PRESET,
    ),
    Item(
        "claim_no_twin",
        "No twin is found for question answering and inference",
        (*ANSWERING, "snli"),
        lambda plan: models(plan, interventions=[_twin(plan)]),
        no_twin,
        PRESET,
        fast_dataset=_QUERY,
    ),
)
