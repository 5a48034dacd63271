"""Does attention rank the words as importance measures do? (Jain & Wallace 2019, figure 2)"""

from __future__ import annotations

from typing import Any

from attnaudit.core.errors import NotApplicable
from attnaudit.report.charts import bins
from attnaudit.report.figures.histograms import histograms_by_class, outline
from attnaudit.report.figures.style import column, in_words, legend_above
from attnaudit.report.run_sources import Run

_IN_PAPER = ("gradient", "leave_one_out")
_NOT_MEASURES = ("random", "between_measures")


def tau_histograms(run: Run) -> Any:
    """tau by predicted class, next to chance; needs the audit agreement.

    Of gradient and leave_one_out if they were run, otherwise of the first measure.
    """
    measures = [
        name
        for name in run.columns.measures("agreement", "tau")
        if name not in _NOT_MEASURES and "|" not in name
    ]
    if not measures:
        raise NotApplicable(run.why_not("agreement"))
    chosen = [name for name in _IN_PAPER if name in measures] or measures[:1]
    figure, axes = column(0.55 + 1.2 * len(chosen), rows=len(chosen), sharex=True, squeeze=False)
    chance = run.columns("agreement", "random", "tau")
    for panel, measure in zip(axes[:, 0], chosen, strict=True):
        tau = run.need("agreement", "tau", measure)
        histograms_by_class(panel, tau, run.by_class(), bins.TAU)
        if chance is not None:
            line = {"color": "black", "ls": ":", "lw": 1.1}
            outline(panel, chance, bins.TAU, label="random scores", **line)
        panel.set(ylabel="share of examples", xlim=bins.TAU, xticks=(-1, -0.5, 0, 0.5, 1))
        panel.set_title(f"tau with {in_words(measure)}", loc="left", pad=2)
    axes[-1, 0].set_xlabel("Kendall's tau with attention")
    legend_above(figure, *axes[0, 0].get_legend_handles_labels())
    return figure
