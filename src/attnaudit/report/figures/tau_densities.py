"""Densities of tau, one curve per pair of rankings (Neely & Schouten 2020, figures 1 and 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from attnaudit.core.errors import NotApplicable
from attnaudit.report.figures.style import COLOURS, GREY, LINES, column, legend_above

_PLACES = np.linspace(-1.5, 1.5, 301)


def tau_densities(values: Mapping[str, np.ndarray], chance: np.ndarray) -> Any:
    """Kernel densities (Gaussian, Scott's rule) of up to three pairs, and of random scores.

    Parameters
    ----------
    values : label -> one tau per text; NaN is left out.
    chance : tau of attention with random scores.
    """
    figure, axes = column(2.2)
    drawn = 0
    for (label, tau), colour, line in zip(values.items(), COLOURS, LINES, strict=True):
        drawn += _curve(axes, tau, color=colour, ls=line, label=label)
    _curve(axes, chance, color=GREY, ls=":", label="attention, random scores")
    if not drawn:
        raise NotApplicable("every tau is undefined, or all are the same: there is no density")
    axes.set(xlabel="top-k tau", ylabel="density", xlim=(-1.5, 1.5), ylim=(0, None))
    legend_above(figure, *axes.get_legend_handles_labels())
    return figure


def _curve(axes: Any, tau: np.ndarray, **options: Any) -> bool:
    """Whether the values have a density, which is then drawn."""
    from scipy.stats import gaussian_kde

    known = tau[~np.isnan(tau)]
    if len(np.unique(known)) < 2:
        return False
    axes.plot(_PLACES, gaussian_kde(known)(_PLACES), **options)
    return True
