"""Which removals flip the decision? The four shares of Serrano & Smith 2019, table 2, a line a run."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from attnaudit.core.errors import NotApplicable
from attnaudit.report.run_sources import Run
from attnaudit.report.tables.table import PaperTable, percent

_CELLS = {"flips_both": "both", "flips_only_top": "only the most attended", "flips_only_random": "only a random one", "flips_neither": "neither"}  # fmt: skip


def flips(runs: Sequence[Run]) -> PaperTable:
    """Needs the audit top_item in one run at least."""
    lines, why = [], "no run was given"
    for run in runs:
        try:
            means = run.summary("top_item").set_index("metric")["mean"]
        except NotApplicable as reason:
            why = str(reason)
            continue
        lines.append(
            {"run": run.label, "folder": run.title, **{name: float(means[name]) for name in _CELLS}}
        )
    if not lines:
        raise NotApplicable(why)
    frame = pd.DataFrame(lines)
    printed = frame[["run"]].assign(
        **{told: [percent(each) for each in frame[name]] for name, told in _CELLS.items()}
    )
    caption = "Whether the decision flips without the most attended item, and without a random one."
    return PaperTable(frame, printed, 1, caption)
