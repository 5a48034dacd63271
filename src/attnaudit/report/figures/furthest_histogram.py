"""How different could the attention have been, with the same prediction? (Jain & Wallace 2019, figure 7)"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from attnaudit.report.figures.histograms import histograms_by_class, outline
from attnaudit.report.figures.style import RED, column, legend_above
from attnaudit.report.run_sources import Run

_BINS, _LIMITS = 28, (0.0, 0.7)


def furthest_histogram(run: Run) -> Any:
    """Needs the audit furthest. The upper bound is drawn where it is not the value itself."""
    jsd = run.need("furthest", "jsd")
    figure, axes = column(1.9)
    histograms_by_class(axes, jsd, run.by_class(), _BINS, _LIMITS)
    upper = run.columns("furthest", "", "upper")
    if upper is not None and np.nanmax(upper - jsd) > 1e-9:
        outline(axes, upper, _BINS, _LIMITS, label="upper bound, all", color="black", ls="--", lw=1)
    axes.axvline(math.log(2), color=RED, lw=0.8, ls="--", label="ln 2, the most")
    axes.set(
        xlabel="furthest JSD with the same prediction (nats)",
        ylabel="share of examples",
        xlim=(0, 0.72),
    )
    legend_above(figure, *axes.get_legend_handles_labels())
    return figure
