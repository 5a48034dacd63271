"""Which removals flip the decision? One line per run (Serrano & Smith 2019, table 2)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from attnaudit.core.errors import NotApplicable
from attnaudit.report.run_sources import Run
from attnaudit.report.tables.table import PaperTable, percent

_CELLS = {
    "flips_both": "both",
    "flips_only_top": "only the most attended",
    "flips_only_random": "only a random one",
    "flips_neither": "neither",
}


def flips(runs: Sequence[Run]) -> PaperTable:
    """Needs the audit top_item in at least one run."""
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
        **{head: [percent(share) for share in frame[name]] for name, head in _CELLS.items()}
    )
    caption = "Whether the decision flips without the most attended item, and without a random one."
    return PaperTable(frame, printed, 1, caption)
