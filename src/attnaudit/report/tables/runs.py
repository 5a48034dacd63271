"""The numbers of the card, run beside run: what a paper's own table is made of."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from attnaudit.errors import NotApplicable
from attnaudit.report.sources import Run
from attnaudit.report.tables.table import PaperTable, number, percent, with_interval


def runs(sources: Sequence[Run]) -> PaperTable:
    """Accuracy, and every number the five questions rest on; the runs of one number under one another."""
    lines = []
    for run in sources:
        performance = run.results.about.get("run", {}).get("performance")
        if performance:
            low, high = performance["accuracy_interval"]
            lines.append(
                _line(
                    run,
                    "test accuracy",
                    performance["accuracy"],
                    low,
                    high,
                    performance["majority"],
                    1.0,
                    0.0,
                )
            )
        for answer in run.results.card().answers:
            lines += [
                _line(
                    run, each.name, each.value, each.low, each.high, each.floor, each.ceiling, each.nan_share
                )
                for each in answer.findings
            ]
    if not lines:
        raise NotApplicable("no run holds any of the card's numbers")
    frame = pd.DataFrame(lines)
    order = {name: at for at, name in enumerate(dict.fromkeys(frame["number"]))}
    frame = frame.sort_values("number", key=lambda names: names.map(order), kind="stable", ignore_index=True)
    printed = frame[["number", "run"]].assign(
        **{
            "mean [95 % interval]": [
                with_interval(*each) for each in frame[["mean", "low", "high"]].itertuples(index=False)
            ],
            "floor": [number(each) for each in frame["floor"]],
            "ceiling": [number(each) for each in frame["ceiling"]],
            "undefined": [percent(each) for each in frame["nan_share"]],
        }
    )
    caption = "The numbers of the card, run beside run: mean with 95 % interval, floor and ceiling."
    return PaperTable(frame, printed, 2, caption)


def _line(
    run: Run, name: str, mean: float, low: float, high: float, floor: float, ceiling: float, nan_share: float
) -> dict[str, object]:
    return {"number": name, "run": run.label, "folder": run.title, "mean": mean, "low": low, "high": high, "floor": floor,
            "ceiling": ceiling, "nan_share": nan_share}  # fmt: skip
