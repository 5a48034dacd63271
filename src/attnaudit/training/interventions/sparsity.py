"""Does sparser attention explain better? The same model over the sparsity of its projection (Meister et al. 2021, figure 3)."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from attnaudit.core.option_limits import Joined, Number, limits
from attnaudit.results.findings import Findings
from attnaudit.training.interventions import answers
from attnaudit.training.interventions.context import InterventionContext

_SHOWN = {
    ("agreement", "gradient", "tau"): "tau_gradient",
    ("agreement", "random", "tau"): "tau_random",
    ("furthest", "", "jsd"): "furthest_jsd",
    ("permutation", "", "tvd_median"): "permutation_tvd",
    ("permutation", "", "max_attention"): "max_attention",
}


@limits(
    lams=Joined(Number(below=1), or_none=True), alphas=Joined(Number(above=1, most=2), or_none=True)
)
def sparsity(
    plan: InterventionContext, *, lams: str = "-4+-1+0+0.5+0.9", alphas: str = "1.25+1.5+2"
) -> Findings:
    """sparsegen over lam (numbers joined by +, below 1) and entmax over alpha: agreement with gradients, furthest attention, accuracy."""
    settings = [("softmax", float("nan"), "softmax")]
    settings += [
        ("sparsegen", float(lam), f"sparsegen:lam={lam}") for lam in str(lams).split("+") if lam
    ]
    settings += [
        ("entmax", float(alpha), f"entmax:alpha={alpha}")
        for alpha in str(alphas).split("+")
        if alpha
    ]
    lines, runs = [], []
    for name, value, projection in settings:
        run = plan.variant(projection=projection)
        runs.append(run)
        lines.append({"projection": name, "value": value, **_numbers(plan, run)})
    question = "What changes with the sparsity of the attention?"
    summary = pd.DataFrame(lines)
    return Findings(
        "sparsity", question, summary, pd.DataFrame(), tuple(runs), answers.sparsity(summary)
    )


def _numbers(plan: InterventionContext, folder: Any) -> dict[str, float]:
    results = plan.load(folder).results
    found: dict[str, float] = {"accuracy": results.about["run"]["performance"]["accuracy"]}
    for (audit, measure, metric), name in _SHOWN.items():
        line = results.line(audit, metric, measure)
        for column, end in (("mean", ""), ("low", "_low"), ("high", "_high")):
            found[f"{name}{end}"] = math.nan if line is None else float(line[column])
    return found
