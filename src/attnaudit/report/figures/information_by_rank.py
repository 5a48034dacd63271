"""Do the most attended words carry more information about the output? (Wen et al. 2022)"""

from __future__ import annotations

from typing import Any

from attnaudit.report.figures.style import BLUE, GREEN, GREY, column, legend_above
from attnaudit.report.run_sources import Run
from attnaudit.report.tables.table import number, with_interval


def information_by_rank(run: Run) -> Any:
    """Needs the corpus audit mutual_information in the run's folder."""
    findings = run.corpus_audit("mutual_information")
    detail = findings.detail.sort_values("rank")
    figure, axes = column(2.6, rows=2, sharex=True, height_ratios=(2, 1))
    lines = (
        ("mi", "hidden states", BLUE, "o-"),
        ("mi_of_input", "word vectors", GREEN, "s--"),
        ("mi_floor", "chance", GREY, "x:"),
    )
    for name, label, colour, mark in lines:
        axes[0].plot(detail["rank"], detail[name], mark, color=colour, ms=3, label=label)
    axes[0].set(ylabel="information about\nthe output (nats)", ylim=(0, None))
    axes[1].bar(detail["rank"], detail["mean_attention"], color=GREY, width=0.7)
    axes[1].set(ylabel="mean\nattention", xlabel="rank by attention, 1 = the most attended")
    axes[1].xaxis.get_major_locator().set_params(integer=True)
    tau = findings.summary.set_index("metric").loc["weighted_tau"]
    value = with_interval(tau["value"], tau["low"], tau["high"], 2)
    axes[0].set_title(f"weighted tau {value}, by chance {number(tau['floor'], 2)}")
    legend_above(figure, *axes[0].get_legend_handles_labels())
    return figure
