"""Does the most attended item matter more than a random one, the more so the more it is attended? (Serrano & Smith 2019)"""

from __future__ import annotations

from typing import Any

import numpy as np

from attnaudit.report.figures.style import BLUE, column
from attnaudit.report.run_sources import Run

_MANY = 2000  # points; from here on they are drawn as an image, or the file grows with the corpus


def top_item_scatter(run: Run) -> Any:
    """Needs the audit top_item. Below the line: the random item mattered more."""
    change, weight = run.need("top_item", "delta_js"), run.need("top_item", "delta_alpha")
    known = ~np.isnan(change) & ~np.isnan(weight)
    figure, axes = column(2.1)
    axes.plot(weight[known], change[known], "o", ms=2.2, mfc=(BLUE, 0.35), mec=(BLUE, 0.6), mew=0.3,
              rasterized=bool(known.sum() > _MANY), clip_on=False)  # fmt: skip
    axes.axhline(0, color="black", lw=0.7, zorder=0)
    below = float((change[known] < 0).mean())
    axes.set(
        xlabel="attention, top item minus random item",
        ylabel="change of the output (JSD),\ntop item minus random item",
        xlim=(0, 1),
        title=f"n = {known.sum():,}; random item mattered more in {100 * below:.1f} %",
    )
    return figure
