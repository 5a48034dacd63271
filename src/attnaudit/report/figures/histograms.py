"""Overlaid histograms by predicted class, each summing to 1, as Jain & Wallace draw them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnaudit.report.charts import bins
from attnaudit.report.figures.style import COLOURS, HATCHES, printable


def histograms_by_class(
    axes: Any,
    values: np.ndarray,
    groups: Sequence[tuple[str, np.ndarray]],
    span: bins.Span,
) -> None:
    """values: (examples,), NaN is left out; groups: (name, mask)."""
    for index, (name, members) in enumerate(groups):
        _shares(
            axes,
            values[members],
            span,
            label="all examples" if len(groups) == 1 else f"predicted {printable(name)}",
            histtype="stepfilled",
            facecolor=(COLOURS[index], 0.55),
            edgecolor="black",
            linewidth=0.5,
            hatch=HATCHES[index],
        )


def outline(axes: Any, values: np.ndarray, span: bins.Span, *, label: str, **options: Any) -> None:
    """A histogram to compare with, as a line."""
    _shares(axes, values, span, label=label, histtype="step", **options)


def _shares(axes: Any, values: np.ndarray, span: bins.Span, **options: Any) -> None:
    """The share of the defined values in each bin; nothing if none is defined."""
    part = bins.inside(values, span)
    if len(part):
        weights = np.full(len(part), 1 / len(part))
        axes.hist(part, bins=bins.BINS, range=span, weights=weights, **options)
