"""How far can attention move while predictions stay? Twins over lam (Wiegreffe & Pinter 2019)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from attnaudit.report.figures.intervals import bars
from attnaudit.report.figures.style import BLUE, GREY, column, legend_above, mark_maximum
from attnaudit.results.findings import Findings


def adversarial_curve(findings: Findings) -> Any:
    """JSD of attention against TVD of predictions: one point per lam, and a band of other seeds."""
    summary = findings.summary
    twins = summary[summary["kind"] == "twin"].sort_values("lam")
    seeds = summary[summary["kind"] == "seed"]
    figure, axes = column(2.4)
    if len(seeds):
        axes.axhspan(0, seeds["jsd_high"].max(), color=GREY, alpha=0.15, lw=0)
        axes.axvspan(0, seeds["tvd_high"].max(), color=GREY, alpha=0.15, lw=0)
        _points(axes, seeds, fmt="s", color=GREY, label="other seeds")
    _points(axes, twins, fmt="o-", color=BLUE, label="adversarial twins")
    for line in twins.itertuples():
        axes.annotate(
            f"λ={line.lam:g}",
            (line.tvd, line.jsd),
            textcoords="offset points",
            # Off the line through the points: above it where there is no room below.
            xytext=(2, 9) if line.jsd < 0.08 else (5, -9),
            fontsize=6.5,
        )
    mark_maximum(axes)
    axes.set(
        xlabel="change of predictions (TVD)",
        ylabel="distance of attention (JSD)",
        xlim=(0, None),
        ylim=(0, 0.76),
    )
    legend_above(figure, *axes.get_legend_handles_labels())
    return figure


def _points(axes: Any, lines: pd.DataFrame, **options: Any) -> None:
    axes.errorbar(
        lines["tvd"],
        lines["jsd"],
        xerr=bars(lines, "tvd"),
        yerr=bars(lines, "jsd"),
        ms=3.5,
        elinewidth=0.8,
        **options,
    )
