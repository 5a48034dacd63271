"""Jain & Wallace 2019, "Attention is not Explanation", table 2: tau of attention with importance, BiLSTM with additive attention.

Two versions of the table were published: the paper's, whose models were chosen on the test set, and a later one chosen on dev. How far
they lie apart is the noise of retraining, by which any other difference should be judged.
"""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from attnaudit.results import Results


class Published(NamedTuple):
    """Mean tau as printed: in the paper, and in the later version."""

    dataset: str  # as `attnaudit run --dataset` names it
    group: str  # predicted class, or "all"
    measure: str
    paper: float
    later: float


TABLE_2 = (
    Published("sst", "negative", "gradient", 0.40, 0.34),
    Published("sst", "positive", "gradient", 0.38, 0.36),
    Published("sst", "negative", "leave_one_out", 0.34, 0.27),
    Published("sst", "positive", "leave_one_out", 0.33, 0.32),
    Published("babi:task=1", "all", "gradient", 0.23, 0.25),
    Published("babi:task=1", "all", "leave_one_out", 0.23, 0.16),
    Published("babi:task=2", "all", "gradient", 0.17, -0.02),
    Published("babi:task=2", "all", "leave_one_out", 0.11, -0.01),
    Published("babi:task=3", "all", "gradient", 0.30, 0.24),
    Published("babi:task=3", "all", "leave_one_out", 0.31, 0.26),
)


def beside_published(results: Results) -> pd.DataFrame:
    """Our mean tau and its interval beside both published ones; empty where nothing was published for this run."""
    chosen = results.about.get("run", {}).get("choices", {})
    parts = ("model", "scorer", "projection", "variant")
    same_model = chosen.get("encoder", "").startswith("bilstm") and [chosen.get(part) for part in parts] == [
        "attentive",
        "additive",
        "softmax",
        "ordinary",
    ]
    dataset = "babi:task=1" if chosen.get("dataset") == "babi" else chosen.get("dataset")
    ours = results.summaries
    ours = ours[(ours["audit"] == "agreement") & (ours["metric"] == "tau")].set_index(["group", "measure"])
    lines = [
        {
            "predicted class": line.group,
            "measure": line.measure,
            "paper": line.paper,
            "later version": line.later,
            "ours": round(float(ours.loc[(line.group, line.measure), "mean"]), 3),
            "low": round(float(ours.loc[(line.group, line.measure), "low"]), 3),
            "high": round(float(ours.loc[(line.group, line.measure), "high"]), 3),
        }
        for line in TABLE_2
        if same_model and line.dataset == dataset and (line.group, line.measure) in ours.index
    ]
    return pd.DataFrame(lines)
