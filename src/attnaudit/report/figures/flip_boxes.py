"""What share of the items must be removed until the decision flips? (Serrano & Smith 2019)"""

from __future__ import annotations

from typing import Any

import numpy as np

from attnaudit.core.errors import NotApplicable
from attnaudit.report.figures.box_plots import boxes, write_right
from attnaudit.report.figures.style import BLUE, GREEN, GREY, column, in_words
from attnaudit.report.run_sources import Run

EXACT = "smallest_set"
_FILLS = {"attention": BLUE, EXACT: GREEN, "random": GREY}


def flip_boxes(run: Run) -> Any:
    """One box per ranking, the best at the top, and above it the exact minimum.

    Needs the audit flip_fraction. Every example is in every box, as 1 if nothing flips it.
    """
    names = run.columns.measures("flip_fraction", "removed")
    if not names:
        raise NotApplicable(run.why_not("flip_fraction"))
    removed = {name: _known(run.need("flip_fraction", "removed", name)) for name in names}
    flips = {name: float(np.nanmean(run.need("flip_fraction", "flipped", name))) for name in names}
    # From the bottom.
    order = sorted(names, key=lambda name: (name == EXACT, -removed[name].mean(), name))
    figure, axes = column(0.75 + 0.2 * len(order))
    means = {"marker": "D", "ms": 3, "mfc": "white", "mec": "black", "mew": 0.6}
    drawn = boxes(axes, [removed[name] for name in order], showmeans=True, meanprops=means)
    for name, box in zip(order, drawn, strict=True):
        box.set_facecolor((_FILLS.get(name, "white"), 0.5))
    labels = ["smallest set (exact)" if name == EXACT else in_words(name) for name in order]
    axes.set_yticks(range(1, len(order) + 1), labels)
    write_right(axes, [f"{100 * flips[name]:.0f} %" for name in order], "flips\nat all")
    axes.set(xlabel="share removed until the decision flips", xlim=(-0.02, 1.02))
    return figure


def _known(values: np.ndarray) -> np.ndarray:
    return values[~np.isnan(values)]
