"""How spread out is the attention of each run? Across projections, encoders or corpora (Meister et al. 2021)."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from attnaudit.core.errors import NotApplicable
from attnaudit.report.figures.style import BLUE, GREY, column, shown
from attnaudit.report.run_sources import Run

_WRAP = 26  # characters a line of a run's name


def dispersion(runs: Sequence[Run]) -> Any:
    """Needs the audit dispersion in one run at least. Runs by what tells them apart, the most spread out at the bottom."""
    spread, zeros = {}, {}
    for run in runs:
        found = run.columns("dispersion", "attention", "entropy")
        if found is not None and not np.isnan(found).all():
            spread[run.title] = found[~np.isnan(found)]
            none = run.columns("dispersion", "attention", "zeros")
            zeros[run.title] = float(np.nanmean(none)) if none is not None else float("nan")
    if not spread:
        raise NotApplicable(runs[0].why_not("dispersion") if runs else "no run was given")
    labels = {run.title: run.label for run in runs}
    order = sorted(spread, key=lambda title: (-np.median(spread[title]), title))
    names = [_wrapped(labels[title]) for title in order]
    figure, axes = column(
        0.7 + len(order) * (0.1 + 0.12 * max(name.count("\n") + 1 for name in names))
    )
    drawn = axes.boxplot([spread[title] for title in order], orientation="horizontal", widths=0.62, patch_artist=True,
                         flierprops={"marker": ".", "ms": 1.5, "mec": GREY}, medianprops={"color": "black", "lw": 1.2},
                         whiskerprops={"lw": 0.6}, capprops={"lw": 0.6}, boxprops={"lw": 0.6})  # fmt: skip
    for box in drawn["boxes"]:
        box.set_facecolor((BLUE, 0.4))
    axes.set_yticks(range(1, len(order) + 1), names)
    for at, title in enumerate(order, start=1):
        axes.text(1.03, at, f"{100 * zeros[title]:.0f} %" if zeros[title] == zeros[title] else "–", va="center",
                  fontsize=6.5)  # fmt: skip
    axes.text(1.03, len(order) + 0.6, "weights\nof 0", va="bottom", fontsize=6.5)
    axes.set(xlabel="entropy of attention, 1 = uniform", xlim=(-0.02, 1.02))
    return figure


def _wrapped(label: str) -> str:
    """On as many lines as it takes; a line ends after a dot between choices, not before."""
    whole = shown(label, 4 * _WRAP).replace(" · ", "\u00a0· ").replace("seed ", "seed\u00a0")
    return textwrap.fill(whole, _WRAP)
