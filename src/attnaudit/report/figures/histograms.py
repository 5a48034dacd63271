"""Histograms by predicted class over one another, each class summing to 1, as Jain & Wallace draw them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnaudit.report.figures.style import COLOURS, HATCHES, shown


def histograms_by_class(
    axes: Any,
    values: np.ndarray,
    groups: Sequence[tuple[str, np.ndarray]],
    bins: int,
    limits: tuple[float, float],
) -> None:
    """values (examples,), groups (name, mask); NaN left out."""
    for at, (name, members) in enumerate(groups):
        part = values[members & ~np.isnan(values)]
        if not len(part):
            continue
        label = "all examples" if len(groups) == 1 else f"predicted {shown(name)}"
        axes.hist(part, bins=bins, range=limits, weights=np.full(len(part), 1 / len(part)), label=label,
                  histtype="stepfilled", facecolor=(COLOURS[at], 0.55), edgecolor="black", linewidth=0.5,
                  hatch=HATCHES[at])  # fmt: skip


def outline(
    axes: Any,
    values: np.ndarray,
    bins: int,
    limits: tuple[float, float],
    *,
    label: str,
    **options: Any,
) -> None:
    """A histogram to compare with, as a line."""
    part = values[~np.isnan(values)]
    if len(part):
        axes.hist(part, bins=bins, range=limits, weights=np.full(len(part), 1 / len(part)), histtype="step",
                  label=label, **options)  # fmt: skip
