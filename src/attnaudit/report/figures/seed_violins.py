"""How far apart are models that differ by seed alone, by how peaked the attention is? (Wiegreffe & Pinter 2019)"""

from __future__ import annotations

from typing import Any

import numpy as np

from attnaudit.report.figures.style import column, mark_most
from attnaudit.report.figures.violins import violins_by_peak
from attnaudit.results.findings import Findings


def seed_violins(findings: Findings) -> Any:
    """Of the intervention seeds: each example once, with its mean over the pairs of models."""
    together = findings.detail.groupby("example_id")[["jsd", "max_attention"]].mean()
    figure, axes = column(2.2)
    everything = [("all", np.ones(len(together), dtype=bool))]
    violins_by_peak(
        axes, together["max_attention"].to_numpy(), together["jsd"].to_numpy(), everything
    )
    mark_most(axes, vertical=True)
    axes.set(xlabel="JSD between the attention of two seeds", xlim=(-0.015, 0.72))
    return figure
