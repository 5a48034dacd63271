"""Does sparser attention explain better? One model per projection (Meister et al. 2021, fig. 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from attnaudit.core.option_limits import Joined, Number, limits
from attnaudit.results.findings import Findings
from attnaudit.training.interventions import answers
from attnaudit.training.interventions.context import InterventionContext

# The importance of the paper's figure 3, and chance.
_MEASURES = ("gradient_norm", "leave_one_out", "random")
# (audit, measure, metric) -> column of the summary, besides tau with every measure.
_COLUMNS = {
    ("furthest", "", "jsd"): "furthest_jsd",
    ("permutation", "", "tvd_median"): "permutation_tvd",
    ("permutation", "", "max_attention"): "max_attention",
}


@limits(
    lams=Joined(Number(below=1), or_none=True), alphas=Joined(Number(above=1, most=2), or_none=True)
)
def sparsity(
    context: InterventionContext, *, lams: str = "-4+-1+0+0.5+0.9", alphas: str = "1.25+1.5+2"
) -> Findings:
    """Train models with sparsegen over lam and entmax over alpha, and compare them with softmax.

    Values are joined by +. Compared: agreement with the measures chosen for the base (gradient_norm
    and leave_one_out if none are), the furthest attention with the same prediction, and accuracy.
    """
    measures = tuple(dict.fromkeys((*(context.experiment.measures or _MEASURES), "random")))
    measures = tuple(name for name in measures if name != "attention")
    settings = [("softmax", float("nan"), "softmax")]
    settings += [
        ("sparsegen", float(lam), f"sparsegen:lam={lam}") for lam in str(lams).split("+") if lam
    ]
    settings += [
        ("entmax", float(alpha), f"entmax:alpha={alpha}")
        for alpha in str(alphas).split("+")
        if alpha
    ]
    runs = context.train(
        *(context.member(projection=projection, measures=measures) for *_, projection in settings)
    )
    lines = [
        {"projection": name, "value": value, **_numbers(context, run, measures)}
        for (name, value, _), run in zip(settings, runs, strict=True)
    ]
    question = "What changes with the sparsity of the attention?"
    summary = pd.DataFrame(lines)
    return Findings(
        "sparsity", question, summary, pd.DataFrame(), tuple(runs), answers.sparsity(summary)
    )


def _numbers(
    context: InterventionContext, folder: Any, measures: Sequence[str]
) -> dict[str, float]:
    results = context.load(folder).results
    numbers: dict[str, float] = {"accuracy": results.about["run"]["performance"]["accuracy"]}
    taus = {("agreement", measure, "tau"): f"tau_{measure}" for measure in measures}
    for (audit, measure, metric), name in {**taus, **_COLUMNS}.items():
        line = results.line(audit, metric, measure)
        for column, end in (("mean", ""), ("low", "_low"), ("high", "_high")):
            numbers[f"{name}{end}"] = math.nan if line is None else float(line[column])
    return numbers
