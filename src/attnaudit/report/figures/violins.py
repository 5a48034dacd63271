"""Violins by the largest weight and predicted class, as Jain & Wallace draw them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnaudit.report.charts import bins
from attnaudit.report.figures.style import COLOURS, GREY, HATCHES, legend_above, printable

LEAST = 10  # values for a violin; fewer are drawn as points


def violins_by_peak(
    axes: Any, peak: np.ndarray, values: np.ndarray, groups: Sequence[tuple[str, np.ndarray]]
) -> None:
    """White points are medians, black lines span the quartiles.

    peak, values: (examples,); groups: (name, mask).
    """
    from matplotlib.patches import Patch

    known = ~np.isnan(peak) & ~np.isnan(values)
    levels = bins.peak_bin(peak)
    width = 0.8 / len(groups)
    for group, (_, members) in enumerate(groups):
        for level in range(len(bins.PEAKS)):
            part = values[known & members & (levels == level)]
            if len(part):
                height = level + (group - (len(groups) - 1) / 2) * width
                _violin(axes, part, height, 0.92 * width, group)
    counts = np.bincount(levels[known], minlength=len(bins.PEAKS))
    names = [f"{peak}\nn = {count}" for peak, count in zip(bins.PEAKS, counts, strict=True)]
    axes.set_yticks(range(len(names)), names, va="center")
    for between in range(1, len(names)):
        axes.axhline(between - 0.5, color=GREY, lw=0.4, ls=":", zorder=0)
    axes.set(ylim=(-0.5, len(names) - 0.5), ylabel="largest attention weight")
    if len(groups) > 1:
        handles = [
            Patch(
                facecolor=(COLOURS[group], 0.55),
                edgecolor="black",
                linewidth=0.5,
                hatch=HATCHES[group],
                label=f"predicted {printable(name)}",
            )
            for group, (name, _) in enumerate(groups)
        ]
        legend_above(axes.figure, handles, [str(handle.get_label()) for handle in handles])


def _violin(axes: Any, part: np.ndarray, height: float, width: float, group: int) -> None:
    if len(part) < LEAST:
        axes.plot(
            part, np.full(len(part), height), "o", ms=2.5, mfc=COLOURS[group], mec="black", mew=0.4
        )
        return
    drawn = axes.violinplot(
        [part], positions=[height], widths=width, orientation="horizontal", showextrema=False
    )
    for body in drawn["bodies"]:
        body.set(
            facecolor=(COLOURS[group], 0.55),
            edgecolor="black",
            linewidth=0.5,
            alpha=None,
            hatch=HATCHES[group],
        )
    low, median, high = np.quantile(part, bins.QUARTILES)
    axes.plot([low, high], [height, height], color="black", lw=1.6, solid_capstyle="butt")
    axes.plot([median], [height], marker="o", ms=3, mfc="white", mec="black", mew=0.6)
