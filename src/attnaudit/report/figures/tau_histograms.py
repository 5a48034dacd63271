"""Does attention rank the words as measures of importance do? tau by predicted class beside chance (Jain & Wallace 2019, figure 2)."""

from __future__ import annotations

from typing import Any

from attnaudit.core.errors import NotApplicable
from attnaudit.report.figures.histograms import histograms_by_class, outline
from attnaudit.report.figures.style import column, in_words, legend_above
from attnaudit.report.run_sources import Run

_FIRST = ("gradient", "leave_one_out")  # the paper's two
_BINS = 30


def tau_histograms(run: Run) -> Any:
    """Needs the audit agreement. Of gradient and leave_one_out where they were run, or else of the first measure there is."""
    measures = [name for name in run.columns.measures("agreement", "tau")
                if name not in ("random", "between_measures") and "|" not in name]  # fmt: skip
    if not measures:
        raise NotApplicable(run.why_not("agreement"))
    chosen = [name for name in _FIRST if name in measures] or measures[:1]
    figure, axes = column(0.55 + 1.2 * len(chosen), rows=len(chosen), sharex=True, squeeze=False)
    chance = run.columns("agreement", "random", "tau")
    for each, measure in zip(axes[:, 0], chosen, strict=True):
        histograms_by_class(
            each, run.need("agreement", "tau", measure), run.by_class(), _BINS, (-1, 1)
        )
        if chance is not None:
            outline(
                each, chance, _BINS, (-1, 1), label="random scores", color="black", ls=":", lw=1.1
            )
        each.set(ylabel="share of examples", xlim=(-1, 1), xticks=(-1, -0.5, 0, 0.5, 1))
        each.set_title(f"tau with {in_words(measure)}", loc="left", pad=2)
    axes[-1, 0].set_xlabel("Kendall's tau with attention")
    legend_above(figure, *axes[0, 0].get_legend_handles_labels())
    return figure
