"""How spread out is the attention of each run? (Meister et al. 2021)"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from attnaudit.core.errors import NotApplicable
from attnaudit.report.figures.box_plots import boxes, write_right
from attnaudit.report.figures.style import BLUE, column, printable
from attnaudit.report.run_sources import Run

_WRAP = 26  # characters per line of a run's name


def dispersion(runs: Sequence[Run]) -> Any:
    """One box per run, the most spread out at the bottom; needs the audit dispersion in one run."""
    spread, zeros = {}, {}
    for run in runs:
        entropy = run.columns("dispersion", "attention", "entropy")
        if entropy is not None and not np.isnan(entropy).all():
            spread[run.title] = entropy[~np.isnan(entropy)]
            share = run.columns("dispersion", "attention", "zeros")
            zeros[run.title] = float(np.nanmean(share)) if share is not None else float("nan")
    if not spread:
        raise NotApplicable(runs[0].why_not("dispersion") if runs else "no run was given")
    labels = {run.title: run.label for run in runs}
    order = sorted(spread, key=lambda title: (-np.median(spread[title]), title))
    names = [_wrapped(labels[title]) for title in order]
    figure, axes = column(
        0.7 + len(order) * (0.1 + 0.12 * max(name.count("\n") + 1 for name in names))
    )
    for box in boxes(axes, [spread[title] for title in order]):
        box.set_facecolor((BLUE, 0.4))
    axes.set_yticks(range(1, len(order) + 1), names)
    shares = [zeros[title] for title in order]
    texts = ["–" if np.isnan(share) else f"{100 * share:.0f} %" for share in shares]
    write_right(axes, texts, "weights\nof 0")
    axes.set(xlabel="entropy of attention, 1 = uniform", xlim=(-0.02, 1.02))
    return figure


def _wrapped(label: str) -> str:
    """The label on several lines; a line may end after a dot between choices, not before."""
    whole = printable(label, 4 * _WRAP).replace(" · ", "\u00a0· ").replace("seed ", "seed\u00a0")
    return textwrap.fill(whole, _WRAP)
