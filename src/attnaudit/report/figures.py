"""Figures of interventions, for a paper column: matplotlib, colours safe for the colour-blind."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

_BLUE, _ORANGE, _GREEN, _GREY = "#0072B2", "#D55E00", "#009E73", "#777777"


def save_figure(name: str, summary: pd.DataFrame, examples: pd.DataFrame, path: Path) -> Path | None:
    """The figure of an intervention, or None where a table says it all."""
    draw = FIGURES.get(name)
    if draw is None:
        return None
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(4.2, 3.2), dpi=200, layout="constrained")
    draw(axes, summary, examples)
    figure.savefig(path)
    plt.close(figure)
    return path


def adversarial_curve(axes: Any, summary: pd.DataFrame, examples: pd.DataFrame) -> None:
    """JSD of attention against TVD of predictions, one point a lam, with the seeds' points as the band."""
    twins = summary[summary["kind"] == "twin"].sort_values("lam")
    seeds = summary[summary["kind"] == "seed"]
    if len(seeds):
        axes.axhspan(0, seeds["jsd_high"].max(), color=_GREY, alpha=0.15, lw=0)
        axes.axvspan(0, seeds["tvd_high"].max(), color=_GREY, alpha=0.15, lw=0)
        axes.errorbar(seeds["tvd"], seeds["jsd"], xerr=_bars(seeds, "tvd"), yerr=_bars(seeds, "jsd"),
                      fmt="s", color=_GREY, ms=4, label="other seeds")  # fmt: skip
    axes.errorbar(twins["tvd"], twins["jsd"], xerr=_bars(twins, "tvd"), yerr=_bars(twins, "jsd"),
                  fmt="o-", color=_BLUE, ms=4, lw=1, label="adversarial twins")  # fmt: skip
    for line in twins.itertuples():
        axes.annotate(
            f"λ={line.lam:g}", (line.tvd, line.jsd), textcoords="offset points", xytext=(5, -9), fontsize=6
        )
    axes.axhline(np.log(2), color=_ORANGE, lw=0.8, ls="--")
    axes.annotate("ln 2, the most", (1, np.log(2)), xycoords=("axes fraction", "data"), xytext=(-4, 3),
                  textcoords="offset points", ha="right", fontsize=6, color=_ORANGE)  # fmt: skip
    axes.set(
        xlabel="change of predictions (TVD)",
        ylabel="distance of attention (JSD)",
        xlim=(0, None),
        ylim=(0, 0.72),
    )
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(0, 0.93))


def seed_violins(axes: Any, summary: pd.DataFrame, examples: pd.DataFrame) -> None:
    """JSD between seeds, by how peaked the attention is."""
    edges = np.array([0, 0.25, 0.5, 0.75, 1.0001])
    together = examples.groupby("example_id")[["jsd", "max_attention"]].mean()
    groups = [
        together.loc[(together["max_attention"] >= low) & (together["max_attention"] < high), "jsd"]
        .dropna()
        .to_numpy()
        for low, high in pairwise(edges)
    ]
    filled = [at for at, group in enumerate(groups) if len(group) > 1]
    if filled:
        parts = axes.violinplot([groups[at] for at in filled], positions=filled, showmedians=True, widths=0.8)
        for body in parts["bodies"]:
            body.set(facecolor=_BLUE, alpha=0.45)
    labels = [
        f"{low:g}–{min(high, 1):g}\nn={len(g)}"
        for low, high, g in zip(edges[:-1], edges[1:], groups, strict=True)
    ]
    axes.set_xticks(range(len(groups)), labels, fontsize=7)
    axes.axhline(np.log(2), color=_ORANGE, lw=0.8, ls="--")
    axes.set(xlabel="largest attention weight", ylabel="JSD between seeds", ylim=(0, 0.72))


def sparsity_sweep(axes: Any, summary: pd.DataFrame, examples: pd.DataFrame) -> None:
    """Agreement with gradients and furthest attention, over the projections from dense to sparse."""
    order = summary.reset_index(drop=True)
    names = [
        line.projection if np.isnan(line.value) else f"{line.projection}\n{line.value:g}"
        for line in order.itertuples()
    ]
    place = np.arange(len(order))
    shown = (("tau_gradient", "tau with gradient", _BLUE, "o"), ("tau_random", "tau with random", _GREY, "x"),
             ("furthest_jsd", "furthest JSD", _ORANGE, "s"), ("accuracy", "accuracy", _GREEN, "^"))  # fmt: skip
    for column, label, colour, mark in shown:
        bars = _bars(order, column) if f"{column}_low" in order else None
        axes.errorbar(place, order[column], yerr=bars, fmt=mark, color=colour, ms=4, label=label, lw=1)
    axes.set_xticks(place, names, fontsize=5.5)
    axes.set(ylim=(-0.15, 1.3), ylabel="see legend")
    axes.legend(fontsize=6, ncols=2)


def _bars(frame: pd.DataFrame, column: str) -> np.ndarray:
    ends = [frame[column] - frame[f"{column}_low"], frame[f"{column}_high"] - frame[column]]
    return np.clip(np.array(ends, dtype=float), 0, None)


FIGURES: dict[str, Callable[[Any, pd.DataFrame, pd.DataFrame], None]] = {
    "adversarial": adversarial_curve,
    "seeds": seed_violins,
    "sparsity": sparsity_sweep,
}
