"""How far apart are models that differ only in their seed? (Wiegreffe & Pinter 2019)"""

from __future__ import annotations

from typing import Any

import numpy as np

from attnaudit.report.figures.style import column, mark_maximum
from attnaudit.report.figures.violins import violins_by_peak
from attnaudit.results.findings import Findings


def seed_violins(findings: Findings) -> Any:
    """By the largest weight; each example once, with its mean over the pairs of models."""
    means = findings.detail.groupby("example_id")[["jsd", "max_attention"]].mean()
    figure, axes = column(2.2)
    everything = [("all", np.ones(len(means), dtype=bool))]
    violins_by_peak(axes, means["max_attention"].to_numpy(), means["jsd"].to_numpy(), everything)
    mark_maximum(axes, vertical=True)
    axes.set(xlabel="JSD between the attention of two seeds", xlim=(-0.015, 0.72))
    return figure
