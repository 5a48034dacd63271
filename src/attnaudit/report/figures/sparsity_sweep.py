"""What changes with the sparsity of the attention? (Meister et al. 2021, figure 3)"""

from __future__ import annotations

from typing import Any

import numpy as np

from attnaudit.report.figures.intervals import bars
from attnaudit.report.figures.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    RED,
    column,
    in_words,
    legend_above,
)
from attnaudit.results.findings import Findings

_OTHERS = (
    ("tau_random", "tau with random", GREY, "x"),
    ("furthest_jsd", "furthest JSD", RED, "s"),
    ("accuracy", "accuracy", GREEN, "^"),
)
_TAU_STYLES = ((BLUE, "o"), (ORANGE, "D"), ("black", "v"), (BLUE, "P"), (ORANGE, "*"))


def sparsity_sweep(findings: Findings) -> Any:
    """Agreement with measures and with chance, furthest attention, and accuracy.

    One group per projection, from dense to sparse.
    """
    order = findings.summary.reset_index(drop=True)
    names = [
        in_words(line.projection) + ("" if np.isnan(line.value) else f" {line.value:g}")
        for line in order.itertuples()
    ]
    place = np.arange(len(order))
    figure, axes = column(2.5)
    taus = [
        name
        for name in order.columns
        if name.startswith("tau_") and name != "tau_random" and not name.endswith(("_low", "_high"))
    ]
    series = [
        (name, in_words(name.replace("tau_", "tau with ")), *style)
        for name, style in zip(taus, _TAU_STYLES, strict=False)
    ]
    for index, (name, label, colour, mark) in enumerate((*series, *_OTHERS)):
        interval = bars(order, name) if f"{name}_low" in order else None
        axes.errorbar(
            place + 0.08 * (index - 1.5),
            order[name],
            yerr=interval,
            fmt=mark,
            color=colour,
            ms=3,
            label=label,
            elinewidth=0.8,
        )
    axes.set_xticks(place, names, rotation=45, ha="right", rotation_mode="anchor")
    axes.axhline(0, color="black", lw=0.5)
    axes.set(ylabel="mean", ylim=(min(-0.1, axes.get_ylim()[0]), 1.05))
    legend_above(figure, *axes.get_legend_handles_labels())
    return figure
