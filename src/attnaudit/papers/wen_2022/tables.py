"""The tables of Wen et al. 2022: performance, held parts, adversarial twins, Gumbel-softmax."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from attnaudit.data.corpus_info import corpus_of
from attnaudit.papers.finished_cells import FinishedCells
from attnaudit.papers.item import Number
from attnaudit.papers.run_numbers import corpus_counts, parts_of
from attnaudit.papers.wen_2022.information import (
    pooled_lines,
    tau_of,
    with_keys,
)
from attnaudit.papers.wen_2022.trained_models import (
    FIXED,
)

_ROUNDING = 1e-9  # of a weighted tau, which is the same in exact arithmetic


def table1(cells: FinishedCells) -> Iterator[Number]:
    """Corpus counts, and accuracy of BiLSTM with additive attention."""
    yield from corpus_counts(cells)
    yield Number("accuracy", cells.runs[0].performance["accuracy"])


def table2(cells: FinishedCells) -> Iterator[Number]:
    """tau of the trained model less that of one with its attention, or its encoder, held."""
    base = cells.runs[0]
    own = tau_of(base)
    for intervention in FIXED:
        held = cells.run_at(cells.findings(intervention, base).runs[1])
        setting = "fix_attention_uniform" if ":" in intervention else intervention
        value = own.value - tau_of(held).value
        yield Number("delta_tau", value, {"setting": setting})
    yield with_keys(own, setting="trained")


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
    """By how much the twin is one: other attention, the same predictions, next to another seed.

    The smaller of two numbers: how much farther its attention is from the base, and how much nearer
    its predictions are. No twin was found if it is not above 0.
    """
    summary = cells.findings("adversarial", cells.runs[0]).summary.set_index("kind")
    farther = float(summary.loc["twin", "jsd"] - summary.loc["seed", "jsd"])
    nearer = float(summary.loc["seed", "tvd"] - summary.loc["twin", "tvd"])
    yield Number("twin_beyond_seed", min(farther, nearer), claim=(-math.inf, 0.0))
    yield from twins(cells)


def table5(cells: FinishedCells) -> Iterator[Number]:
    """Whether Gumbel-softmax raises weighted tau, or leaves it as it is, for every model."""
    for run in cells.where(projection="softmax"):
        chosen = run.details["choices"]
        same = {part: chosen[part] for part in ("encoder", "scorer")}
        other = cells.one(**same, projection="gumbel_softmax")
        before, after = tau_of(run).value, tau_of(other).value
        keys = parts_of(run, "encoder", "scorer")
        gained = after - before
        yield Number("weighted_tau_gained", gained, keys)
        kept = math.nan if math.isnan(gained) else float(gained >= -_ROUNDING)
        yield Number("raised", kept, keys)


def raised_counts(numbers: pd.DataFrame) -> pd.DataFrame:
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
    return pooled_lines(pd.DataFrame(lines))


def _task(dataset: str) -> str:
    name = corpus_of(dataset).split(":")[0]
    if name == "snli":
        return "inference"
    return "question answering" if name in ("babi", "cnn_qa") else "classification"
