"""tau of attention with gradients and leave-one-out, as in Jain & Wallace 2019, table 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from attnaudit.core import registry
from attnaudit.core.errors import NotApplicable
from attnaudit.report.run_sources import FEW_CLASSES, Run, describe_choices
from attnaudit.report.tables.table import PaperTable, number
from attnaudit.results.groups import class_of_group

_MEASURES = {"gradient": "Gradient", "leave_one_out": "Leave-One-Out"}
_ENCODERS = ("bilstm", "average")
_IN_NAMES = ("model", "scorer", "projection", "output", "variant", "seed")


def jain_wallace_table2(runs: Sequence[Run]) -> PaperTable:
    """One line per corpus and predicted class, a pair of columns per measure and encoder.

    The pair is mean ± sd of tau, and the share of examples with p ≤ 0.05. With more than three
    classes, all together. The paper has additive attention and softmax only; other choices get
    their own lines.
    """
    usable = [run for run in runs if run.columns.measures("agreement", "tau")]
    if not usable:
        raise NotApplicable(runs[0].why_not("agreement") if runs else "no run was given")
    differing = [key for key in _IN_NAMES if len({str(run.choices.get(key)) for run in usable}) > 1]
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for run in usable:
        corpus = " · ".join(
            [str(run.choices.get("dataset", run.title)), *describe_choices(run.choices, differing)]
        )
        encoder = registry.parse(str(run.choices.get("encoder", "own model")))[0]
        if any(
            (corpus, group) in cells and _taken(cells[corpus, group], encoder)
            for group in _groups(run)
        ):
            corpus = f"{corpus} · {run.title[-8:]}"  # another run with the same description
        for group in _groups(run):
            line = cells.setdefault((corpus, group), {"dataset": corpus, "class": group})
            line |= _numbers(run, group, encoder)
    frame = pd.DataFrame(list(cells.values()))
    frame = frame[["dataset", "class", *_ordered(list(frame.columns[2:]))]]
    printed = pd.DataFrame({"Dataset": frame["dataset"], "Class": frame["class"]})
    heads = ["", ""]
    for stem in [name.removesuffix(" mean") for name in frame.columns if name.endswith(" mean")]:
        pairs = zip(frame[f"{stem} mean"], frame[f"{stem} sd"], strict=True)
        spread = [
            f"{number(mean, 2)} ± {number(sd, 2)}" if mean == mean else "–" for mean, sd in pairs
        ]
        printed.insert(len(heads), "Mean ± SD", spread, allow_duplicates=True)
        significant = [number(share, 2) for share in frame[f"{stem} significant"]]
        printed.insert(len(heads) + 1, "Sig. Frac.", significant, allow_duplicates=True)
        heads += [stem, stem]
    caption = (
        "Mean and standard deviation of Kendall's tau between attention and importance measures, "
        "and the share with p ≤ 0.05."
    )
    return PaperTable(frame, printed, 2, caption, tuple(heads))


def _groups(run: Run) -> list[str]:
    stored = list(dict.fromkeys(run.results.summaries["group"].astype(str)))
    classes = [name for name in stored if class_of_group(name) is not None]
    return classes if 1 < len(classes) <= FEW_CLASSES else ["all"]


def _taken(line: dict[str, Any], encoder: str) -> bool:
    return any(f"({encoder})" in name for name in line)


def _numbers(run: Run, group: str, encoder: str) -> dict[str, float]:
    part = run.summary("agreement", group).set_index(["measure", "metric"])
    numbers: dict[str, float] = {}
    for measure, title in _MEASURES.items():
        if (measure, "tau") in part.index:
            tau = part.loc[(measure, "tau")]
            name = f"{title} ({encoder})"
            numbers |= {
                f"{name} mean": float(tau["mean"]),
                f"{name} sd": float(tau["sd"]),
                f"{name} significant": float(part.loc[(measure, "significant"), "mean"]),
            }
    return numbers


def _ordered(names: list[str]) -> list[str]:
    """Gradient first, then Leave-One-Out; in each, BiLSTM and average before other encoders."""
    first = [name for encoder in _ENCODERS for name in names if f"({encoder})" in name]
    names = [*first, *(name for name in names if name not in first)]
    return [name for title in _MEASURES.values() for name in names if name.startswith(f"{title} (")]
