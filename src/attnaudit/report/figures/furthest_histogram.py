"""How different could the attention have been? (Jain & Wallace 2019, figure 4)"""

from __future__ import annotations

from typing import Any

import numpy as np

from attnaudit.report.charts import bins
from attnaudit.report.figures.histograms import histograms_by_class, outline
from attnaudit.report.figures.style import RED, column, legend_above
from attnaudit.report.run_sources import Run


def furthest_histogram(run: Run) -> Any:
    """The upper bound is drawn if it differs from the value; needs the audit furthest."""
    jsd = run.need("furthest", "jsd")
    figure, axes = column(1.9)
    histograms_by_class(axes, jsd, run.by_class(), bins.JSD)
    upper = run.columns("furthest", "", "upper")
    if upper is not None and np.nanmax(upper - jsd) > 1e-9:
        outline(axes, upper, bins.JSD, label="upper bound, all", color="black", ls="--", lw=1)
    axes.axvline(bins.JSD[1], color=RED, lw=0.8, ls="--", label="ln 2, the maximum")
    axes.set(
        xlabel="furthest JSD with the same prediction (nats)",
        ylabel="share of examples",
        xlim=(0, 0.72),
    )
    legend_above(figure, *axes.get_legend_handles_labels())
    return figure
