"""Which rankings agree with which? Mean tau of every pair that is stored."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnaudit.report.figures.style import column, in_words
from attnaudit.report.run_sources import Run

_NOT_RANKINGS = ("between_measures",)


def agreement_matrix(run: Run) -> Any:
    """Attention against every measure, and the reference measures with each other.

    Needs the audit agreement; what was not computed is left empty.
    """
    part = run.summary("agreement")
    part = part[(part["metric"] == "tau") & ~part["measure"].isin(_NOT_RANKINGS)]
    taus: dict[tuple[str, str], float] = {}
    for name, mean in zip(part["measure"].astype(str), part["mean"], strict=True):
        first, bar, second = name.partition("|")
        taus[(first, second) if bar else ("attention", first)] = float(mean)
    across = list(dict.fromkeys(first for first, _ in taus))
    down = list(dict.fromkeys(second for _, second in taus))
    matrix = np.array([[taus.get((first, second), np.nan) for first in across] for second in down])
    figure, axes = column(0.8 + 0.2 * len(down))
    image = axes.imshow(matrix, cmap="cividis", vmin=-1, vmax=1, aspect="auto")
    axes.set_facecolor("#f2f2f2")
    for (row, column_index), tau in np.ndenumerate(matrix):
        # Of red, green and blue, green is nearest to lightness.
        is_dark = not np.isnan(tau) and image.cmap(image.norm(tau))[1] < 0.5
        text = "·" if np.isnan(tau) else f"{tau:.2f}".replace("-", "−")
        colour = "white" if is_dark else "black"
        axes.text(column_index, row, text, ha="center", va="center", color=colour)
    axes.set_xticks(range(len(across)), [in_words(name) for name in across])
    axes.set_yticks(range(len(down)), [in_words(name) for name in down])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_title("mean rank agreement (Kendall's tau)", pad=4)
    return figure
