"""Violins by how peaked the attention is and by predicted class, as Jain & Wallace draw them: the peak upwards, the value to the right."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from attnaudit.report.figures.style import COLOURS, GREY, HATCHES, legend_above, shown

EDGES = (0.0, 0.25, 0.5, 0.75, 1.0)
LEAST = 10  # values for a violin; fewer are drawn as points


def violins_by_peak(
    axes: Any, peak: np.ndarray, values: np.ndarray, groups: Sequence[tuple[str, np.ndarray]]
) -> None:
    """peak, values (examples,); groups (name, mask). The white point is the median, the black line spans the quartiles."""
    from matplotlib.patches import Patch

    known = ~np.isnan(peak) & ~np.isnan(values)
    place = np.clip(
        np.searchsorted(EDGES, peak, side="right") - 1, 0, len(EDGES) - 2
    )  # 1 itself is in the last bin
    width = 0.8 / len(groups)
    for at, (_, members) in enumerate(groups):
        for level in range(len(EDGES) - 1):
            part = values[known & members & (place == level)]
            if len(part):
                _violin(axes, part, level + (at - (len(groups) - 1) / 2) * width, 0.92 * width, at)
    counts = np.bincount(place[known], minlength=len(EDGES) - 1)
    names = [
        f"{low:g}–{high:g}\nn = {count}"
        for (low, high), count in zip(pairwise(EDGES), counts, strict=True)
    ]
    axes.set_yticks(range(len(names)), names, va="center")
    for between in range(1, len(names)):
        axes.axhline(between - 0.5, color=GREY, lw=0.4, ls=":", zorder=0)
    axes.set(ylim=(-0.5, len(names) - 0.5), ylabel="largest attention weight")
    if len(groups) > 1:
        handles = [
            Patch(
                facecolor=(COLOURS[at], 0.55),
                edgecolor="black",
                linewidth=0.5,
                hatch=HATCHES[at],
                label=f"predicted {shown(name)}",
            )
            for at, (name, _) in enumerate(groups)
        ]
        legend_above(axes.figure, handles, [str(each.get_label()) for each in handles])


def _violin(axes: Any, part: np.ndarray, at: float, width: float, group: int) -> None:
    if len(part) < LEAST:
        axes.plot(
            part, np.full(len(part), at), "o", ms=2.5, mfc=COLOURS[group], mec="black", mew=0.4
        )
        return
    drawn = axes.violinplot(
        [part], positions=[at], widths=width, orientation="horizontal", showextrema=False
    )
    for body in drawn["bodies"]:
        body.set(
            facecolor=(COLOURS[group], 0.55),
            edgecolor="black",
            linewidth=0.5,
            alpha=None,
            hatch=HATCHES[group],
        )
    low, median, high = np.quantile(part, [0.25, 0.5, 0.75])
    axes.plot([low, high], [at, at], color="black", lw=1.6, solid_capstyle="butt")
    axes.plot([median], [at], marker="o", ms=3, mfc="white", mec="black", mew=0.6)
