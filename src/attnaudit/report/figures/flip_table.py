"""Does removing the top item flip the decision, or a random one? (Serrano & Smith 2019, table 2)"""

from __future__ import annotations

from typing import Any

import numpy as np

from attnaudit.report.figures.style import column
from attnaudit.report.run_sources import Run

# rows: the random item flips, or not; columns: the top item flips, or not
CELLS = (("flips_both", "flips_only_random"), ("flips_only_top", "flips_neither"))


def flip_table(run: Run) -> Any:
    """Per cent of the examples with at least two items; needs the audit top_item."""
    shares = np.array([[np.nanmean(run.need("top_item", name)) for name in row] for row in CELLS])
    figure, axes = column(1.5)
    axes.imshow(shares, cmap="Greys", vmin=0, vmax=1, aspect="auto")
    for (row, column_index), share in np.ndenumerate(shares):
        colour = "white" if share > 0.5 else "black"
        text = f"{100 * share:.1f} %"
        axes.text(column_index, row, text, ha="center", va="center", fontsize=9, color=colour)
    axes.set_xticks([0, 1], ["flips", "does not"])
    axes.set_yticks([0, 1], ["flips", "does not"])
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set(xlabel="without the most attended item, the decision", ylabel="without a\nrandom one")
    axes.set_xticks([0.5], minor=True)
    axes.set_yticks([0.5], minor=True)
    axes.grid(which="minor", color="black", lw=0.6)
    axes.tick_params(which="both", length=0)
    axes.spines[["top", "right"]].set_visible(True)
    return figure
