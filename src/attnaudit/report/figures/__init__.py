"""Figures for papers, one per file: a run, all runs, or findings -> a matplotlib figure."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from attnaudit.report.figures import style
from attnaudit.report.figures.adversarial_curve import adversarial_curve
from attnaudit.report.figures.agreement_matrix import agreement_matrix
from attnaudit.report.figures.dispersion import dispersion
from attnaudit.report.figures.epsilon_curve import epsilon_curve
from attnaudit.report.figures.flip_boxes import flip_boxes
from attnaudit.report.figures.flip_table import flip_table
from attnaudit.report.figures.furthest_histogram import furthest_histogram
from attnaudit.report.figures.furthest_violins import furthest_violins
from attnaudit.report.figures.information_by_rank import information_by_rank
from attnaudit.report.figures.permutation_violins import permutation_violins
from attnaudit.report.figures.seed_violins import seed_violins
from attnaudit.report.figures.sparsity_sweep import sparsity_sweep
from attnaudit.report.figures.tau_histograms import tau_histograms
from attnaudit.report.figures.top_item_scatter import top_item_scatter
from attnaudit.results.findings import Findings

Draw = Callable[[Any], Any]

OF_RUN: dict[str, Draw] = {
    "tau_histograms": tau_histograms,
    "permutation_violins": permutation_violins,
    "furthest_histogram": furthest_histogram,
    "furthest_violins": furthest_violins,
    "epsilon_curve": epsilon_curve,
    "top_item_scatter": top_item_scatter,
    "flip_table": flip_table,
    "flip_boxes": flip_boxes,
    "agreement_matrix": agreement_matrix,
    "information_by_rank": information_by_rank,
}
OF_RUNS: dict[str, Draw] = {"dispersion": dispersion}
# figure -> (the intervention whose findings it shows, the function that draws it)
OF_FINDINGS: dict[str, tuple[str, Draw]] = {
    "seed_violins": ("seeds", seed_violins),
    "adversarial_curve": ("adversarial", adversarial_curve),
    "sparsity_sweep": ("sparsity", sparsity_sweep),
}
FIGURES = (*OF_RUN, *OF_RUNS, *OF_FINDINGS)


def save_figure(
    name: str, summary: pd.DataFrame, examples: pd.DataFrame, path: Path
) -> Path | None:
    """Save the figure of an intervention's findings; None if it has no figure.

    Parameters
    ----------
    name
        Of the intervention.
    summary, examples
        Its findings.
    path
        The file to write; its ending is the format.
    """
    for intervention, draw in OF_FINDINGS.values():
        if intervention == name:
            with style.paper():
                figure = draw(Findings(name, name, summary, examples))
                return style.save(figure, path.with_suffix(""), [path.suffix.removeprefix(".")])[0]
    return None
