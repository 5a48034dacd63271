"""Does a peak pin the attention down? The furthest attention against the largest weight (Jain & Wallace 2019, figure 8)."""

from __future__ import annotations

import math
from typing import Any

from attnaudit.report.figures.style import RED, column
from attnaudit.report.figures.violins import violins_by_peak
from attnaudit.report.sources import Run


def furthest_violins(run: Run) -> Any:
    """Needs the audits furthest and permutation, which keeps the largest weight."""
    jsd, peak = run.need("furthest", "jsd"), run.need("permutation", "max_attention")
    figure, axes = column(2.5)
    violins_by_peak(axes, peak, jsd, run.by_class())
    axes.axvline(math.log(2), color=RED, lw=0.8, ls="--")
    axes.set(xlabel="furthest JSD with the same prediction (nats)", xlim=(-0.015, 0.72))
    return figure
