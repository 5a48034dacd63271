"""Figures of a table of reproduced numbers: points or lines with intervals, and boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from attnaudit.report.figures.box_plots import boxes
from attnaudit.report.figures.style import (
    BLUE,
    COLOURS,
    GREEN,
    GREY,
    LINES,
    MARKS,
    ORANGE,
    RED,
    column,
    in_words,
    legend_above,
)

_STYLES = (
    *((BLUE, "o"), (ORANGE, "s"), (GREEN, "^"), (RED, "D"), (GREY, "v"), ("black", "x")),
    *((BLUE, "P"), (ORANGE, "*")),
)


def table_points(table: pd.DataFrame, rows: str, series: str, label: str) -> Any:
    """One row per value of a column, a point with its interval for each of another column.

    Parameters
    ----------
    table : ours, low, high and published, one line per number.
    rows, series : names of columns.
    label : of the numbers.
    """
    names = list(dict.fromkeys(table[rows]))
    kinds = list(dict.fromkeys(table[series]))
    figure, axes = column(0.9 + 0.28 * len(names))
    for index, (kind, (colour, mark)) in enumerate(zip(kinds, _STYLES, strict=False)):
        part = table[table[series] == kind]
        heights = np.array([names.index(name) for name in part[rows]], dtype=float)
        heights += 0.22 * (index - (len(kinds) - 1) / 2)
        ends = _ends(part)
        axes.errorbar(
            part["ours"], heights, xerr=ends, fmt=mark, color=colour, ms=3.5, label=in_words(kind)
        )
        known = part["published"].notna().to_numpy()
        if known.any():
            axes.plot(part["published"][known], heights[known], mark, mfc="white", mec=colour, ms=5)
    if table["published"].notna().any():
        axes.plot([], [], "o", mfc="white", mec="black", ms=5, ls="", label="published")
    axes.set_yticks(range(len(names)), [in_words(name) for name in names])
    axes.set(xlabel=in_words(label), ylim=(len(names) - 0.5, -0.5))
    axes.axvline(0, color="black", lw=0.5)
    legend_above(figure, *axes.get_legend_handles_labels())
    return figure


def table_lines(table: pd.DataFrame, x: str, series: str, label: str) -> Any:
    """One line per value of a column, against a number (Meister et al. 2021, figure 3).

    The axis is logarithmic below 0, where lam of sparsegen goes to minus infinity.
    """
    figure, axes = column(2.4)
    for index, kind in enumerate(dict.fromkeys(table[series])):
        part = table[table[series] == kind].sort_values(x)
        colour, mark = _STYLES[index % len(_STYLES)]
        axes.errorbar(
            part[x],
            part["ours"],
            yerr=_ends(part),
            fmt=mark,
            ls=LINES[index % len(LINES)],
            color=colour,
            ms=3.5,
            label=in_words(kind),
        )
    axes.set_xscale("symlog", linthresh=1)
    places = sorted(set(table[x]))
    axes.set_xticks(places, [f"{place:g}" for place in places])
    axes.minorticks_off()
    axes.axhline(0, color="black", lw=0.5)
    axes.set(xlabel=in_words(x), ylabel=label)
    legend_above(figure, *axes.get_legend_handles_labels())
    return figure


def boxes_by_group(values: pd.DataFrame, group: str, colour: str, label: str) -> Any:
    """Box plots over trainings, a box per pair of two columns (Wen et al. 2022, figure 2).

    Parameters
    ----------
    values : one line per training, with the column value; NaN is left out.
    group, colour : names of columns; the second decides the fill.
    """
    from matplotlib.patches import Patch

    pairs = list(dict.fromkeys(zip(values[group], values[colour], strict=True)))
    kinds = list(dict.fromkeys(values[colour]))
    parts = [
        values[(values[group] == first) & (values[colour] == second)]["value"].dropna().to_numpy()
        for first, second in pairs
    ]
    figure, axes = column(0.8 + 0.2 * len(pairs))
    for (_, second), box in zip(pairs, boxes(axes, parts), strict=True):
        box.set_facecolor((COLOURS[kinds.index(second) % len(COLOURS)], 0.5))
    for place, part in enumerate(parts, start=1):
        axes.plot(part, np.full(len(part), place), MARKS[0], ms=2, color="black")
    axes.set_yticks(range(1, len(pairs) + 1), [in_words(first) for first, _ in pairs])
    axes.set(xlabel=label, xlim=(-1.05, 1.05))
    handles = [
        Patch(facecolor=(COLOURS[index % len(COLOURS)], 0.5), edgecolor="black", label=kind)
        for index, kind in enumerate(kinds)
    ]
    legend_above(figure, handles, [in_words(kind) for kind in kinds])
    return figure


def _ends(part: pd.DataFrame) -> np.ndarray:
    """How far the interval over trainings reaches below and above (2,n); 0 where there is none."""
    low = part["low"].fillna(part["texts_low"]).fillna(part["ours"])
    high = part["high"].fillna(part["texts_high"]).fillna(part["ours"])
    ends = np.array([part["ours"] - low, high - part["ours"]], dtype=float)
    return np.nan_to_num(ends).clip(min=0)
