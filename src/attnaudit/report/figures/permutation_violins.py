"""Does the prediction change when the weights are shuffled? (Jain & Wallace 2019, figure 3)"""

from __future__ import annotations

from typing import Any

from attnaudit.report.figures.style import column
from attnaudit.report.figures.violins import violins_by_peak
from attnaudit.report.run_sources import Run


def permutation_violins(run: Run) -> Any:
    """Needs the audit permutation."""
    moved, peak = run.need("permutation", "tvd_median"), run.need("permutation", "max_attention")
    figure, axes = column(2.5)
    violins_by_peak(axes, peak, moved, run.by_class())
    axes.set(xlabel="median change of the prediction (TVD)", xlim=(-0.02, 1.02))
    return figure
