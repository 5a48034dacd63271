"""How does the furthest distance grow with the tolerance on the prediction?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from attnaudit.core.errors import NotApplicable
from attnaudit.report.figures.style import (
    COLOURS,
    GREY,
    LINES,
    MARKS,
    RED,
    column,
    legend_above,
    mark_maximum,
    printable,
)
from attnaudit.report.run_sources import Run
from attnaudit.results.groups import group_of_class


def epsilon_curve(run: Run) -> Any:
    """Mean with its 95 % interval as a band, and the mean upper bound, dashed.

    Needs the audit epsilon_curve.
    """
    jsd, upper = _curve(run, "all", "jsd"), _curve(run, "all", "upper")
    figure, axes = column(2.1)
    axes.fill_between(jsd["epsilon"], jsd["low"], jsd["high"], color=GREY, alpha=0.3, lw=0)
    axes.plot(jsd["epsilon"], jsd["mean"], "-", color="black", lw=1.4, label="all examples")
    tight = np.allclose(jsd["mean"], upper["mean"], atol=1e-9)
    label = "upper bound (equal, so exact)" if tight else "upper bound"
    axes.plot(
        upper["epsilon"],
        upper["mean"],
        ls="--",
        lw=0.7,
        marker="D",
        ms=4,
        color=RED,
        mfc="none",
        mew=0.7,
        label=label,
    )
    groups = run.by_class()
    for index, (name, _) in enumerate(groups if len(groups) > 1 else []):
        part = _curve(run, group_of_class(name), "jsd")
        axes.plot(
            part["epsilon"],
            part["mean"],
            color=COLOURS[index],
            ls=LINES[index],
            lw=0.7,
            marker=MARKS[index],
            ms=2,
            label=f"predicted {printable(name)}",
        )
    mark_maximum(axes)
    if (jsd["epsilon"] > 0).all():
        axes.set_xscale("log")
        axes.minorticks_off()
    axes.set_xticks(
        jsd["epsilon"],
        [f"{epsilon:g}" for epsilon in jsd["epsilon"]],
        rotation=45 if len(jsd) > 7 else 0,
    )
    axes.set(
        xlabel="ε (TVD that counts as the same prediction)",
        ylabel="furthest attention\n(JSD in nats, mean)",
        ylim=(0, 0.79),
    )
    axes.grid(axis="y", color=GREY, alpha=0.25, lw=0.4)
    legend_above(figure, *axes.get_legend_handles_labels())
    return figure


def _curve(run: Run, group: str, kind: str) -> pd.DataFrame:
    """epsilon, mean, low and high of `jsd` or `upper`, sorted by ε."""
    part = run.summary("epsilon_curve", group)
    part = part[part["metric"].astype(str).str.startswith(f"{kind}_")]
    if part["mean"].isna().all():
        raise NotApplicable("epsilon_curve is undefined for every example")
    part = part.assign(
        epsilon=part["metric"].astype(str).str.removeprefix(f"{kind}_").astype(float)
    )
    return part.sort_values("epsilon")[["epsilon", "mean", "low", "high"]]
