"""Does the most attended item matter more than a random one? (Serrano & Smith 2019)"""

from __future__ import annotations

from typing import Any

import numpy as np

from attnaudit.report.figures.style import BLUE, column
from attnaudit.report.run_sources import Run

_MANY = 2000  # points; more are drawn as an image, so that the file stays small


def top_item_scatter(run: Run) -> Any:
    """Below the line the random item mattered more; needs the audit top_item."""
    change, weight = run.need("top_item", "delta_js"), run.need("top_item", "delta_alpha")
    known = ~np.isnan(change) & ~np.isnan(weight)
    figure, axes = column(2.1)
    axes.plot(
        weight[known],
        change[known],
        "o",
        ms=2.2,
        mfc=(BLUE, 0.35),
        mec=(BLUE, 0.6),
        mew=0.3,
        rasterized=bool(known.sum() > _MANY),
        clip_on=False,
    )
    axes.axhline(0, color="black", lw=0.7, zorder=0)
    below = float((change[known] < 0).mean())
    axes.set(
        xlabel="attention, top item minus random item",
        ylabel="change of the output (JSD),\ntop item minus random item",
        xlim=(0, 1),
        title=f"n = {known.sum():,}; random item mattered more in {100 * below:.1f} %",
    )
    return figure
