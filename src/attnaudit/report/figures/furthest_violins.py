"""Does a peak pin the attention down? (Jain & Wallace 2019, figure 5)"""

from __future__ import annotations

from typing import Any

from attnaudit.report.figures.style import column, mark_maximum
from attnaudit.report.figures.violins import violins_by_peak
from attnaudit.report.run_sources import Run


def furthest_violins(run: Run) -> Any:
    """Needs the audit furthest, and permutation, which stores the largest weight."""
    jsd, peak = run.need("furthest", "jsd"), run.need("permutation", "max_attention")
    figure, axes = column(2.5)
    violins_by_peak(axes, peak, jsd, run.by_class())
    mark_maximum(axes, vertical=True)
    axes.set(xlabel="furthest JSD with the same prediction (nats)", xlim=(-0.015, 0.72))
    return figure
