"""Horizontal box plots with a column of numbers at their right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnaudit.report.figures.style import GREY


def boxes(axes: Any, values: Sequence[np.ndarray], **options: Any) -> Sequence[Any]:
    """Horizontal box plots, from the bottom; returns the boxes, to be filled."""
    thin = {"lw": 0.6}
    drawn = axes.boxplot(
        values,
        orientation="horizontal",
        widths=0.62,
        patch_artist=True,
        flierprops={"marker": ".", "ms": 1.5, "mec": GREY},
        medianprops={"color": "black", "lw": 1.2},
        whiskerprops=thin,
        capprops=thin,
        boxprops=thin,
        **options,
    )
    return drawn["boxes"]


def write_right(axes: Any, texts: Sequence[str], head: str) -> None:
    """One text to the right of each box, and a head above them."""
    for height, text in enumerate(texts, start=1):
        axes.text(1.03, height, text, va="center", fontsize=6.5)
    axes.text(1.03, len(texts) + 0.6, head, va="bottom", fontsize=6.5)
