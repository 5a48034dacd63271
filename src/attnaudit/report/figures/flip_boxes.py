"""What share of the items must go before the decision flips, best first by each ranking? (Serrano & Smith 2019)"""

from __future__ import annotations

from typing import Any

import numpy as np

from attnaudit.core.errors import NotApplicable
from attnaudit.report.figures.style import BLUE, GREEN, GREY, column, in_words
from attnaudit.report.run_sources import Run

EXACT = "smallest_set"
_FILLS = {"attention": BLUE, EXACT: GREEN, "random": GREY}


def flip_boxes(run: Run) -> Any:
    """Needs the audit flip_fraction. Every example in every box, 1 where nothing flips it; the best ranking at the top, and above it the
    exact minimum, which no ranking can beat."""
    names = run.columns.measures("flip_fraction", "removed")
    if not names:
        raise NotApplicable(run.why_not("flip_fraction"))
    removed = {name: _known(run.need("flip_fraction", "removed", name)) for name in names}
    flips = {name: float(np.nanmean(run.need("flip_fraction", "flipped", name))) for name in names}
    order = sorted(
        names, key=lambda name: (name == EXACT, -removed[name].mean(), name)
    )  # from the bottom
    figure, axes = column(0.75 + 0.2 * len(order))
    drawn = axes.boxplot([removed[name] for name in order], orientation="horizontal", widths=0.62, patch_artist=True,
                         showmeans=True, flierprops={"marker": ".", "ms": 1.5, "mec": GREY},
                         meanprops={"marker": "D", "ms": 3, "mfc": "white", "mec": "black", "mew": 0.6},
                         medianprops={"color": "black", "lw": 1.2},
                         whiskerprops={"lw": 0.6}, capprops={"lw": 0.6}, boxprops={"lw": 0.6})  # fmt: skip
    for name, box in zip(order, drawn["boxes"], strict=True):
        box.set_facecolor((_FILLS.get(name, "white"), 0.5))
    told = {EXACT: "smallest set (exact)"}
    axes.set_yticks(range(1, len(order) + 1), [told.get(name) or in_words(name) for name in order])
    for at, name in enumerate(order, start=1):
        axes.text(1.03, at, f"{100 * flips[name]:.0f} %", va="center", ha="left", fontsize=6.5)
    axes.text(1.03, len(order) + 0.6, "flips\nat all", va="bottom", ha="left", fontsize=6.5)
    axes.set(xlabel="share removed until the decision flips", xlim=(-0.02, 1.02))
    return figure


def _known(values: np.ndarray) -> np.ndarray:
    return values[~np.isnan(values)]
