"""A picture of the table: how many times as long the other side takes, next to the aim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """One bar per row on a logarithmic scale; a mark where the aim is, and one at the limit."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure, axes = pyplot.subplots(figsize=(8, 0.5 + 0.35 * len(rows)))
    for place, row in enumerate(reversed(rows)):
        axes.barh(place, row["ratio"], color="#4477aa")
        if row["aim"]:
            axes.plot(row["aim"], place, "|", color="black", markersize=14)
        if row["limit"]:
            axes.plot(row["other"]["least"] / row["limit"], place, "x", color="#cc6677")
    axes.set_yticks(range(len(rows)), [row["name"] for row in reversed(rows)], fontsize=8)
    axes.set_xscale("log")
    axes.axvline(1, color="grey", linewidth=0.8)
    axes.set_xlabel("times as fast as the other side   | aim   × limit of this machine")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
