"""Is it the only story a model can tell? Twins trained to predict alike and attend differently (Wiegreffe & Pinter 2019)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from attnaudit.core import registry
from attnaudit.core.option_limits import COUNT, NOT_NEGATIVE, Joined, limits
from attnaudit.results.findings import Findings
from attnaudit.training.interventions import answers
from attnaudit.training.interventions.context import InterventionContext, mean_with_interval
from attnaudit.training.interventions.seeds import seed_runs
from attnaudit.training.variants import VARIANTS


@limits(lams=Joined(NOT_NEGATIVE), seeds=COUNT)
def adversarial(
    plan: InterventionContext,
    *,
    lams: str | float = "0.0003+0.001+0.003",
    start: str = "scratch",
    seeds: int = 2,
) -> Findings:
    """A twin for each lam of TVD - lam·KL: how far the attention moves for how much change of prediction, beside other seeds.

    start=base: on the base's encoder and output, held, with a new scorer. The curve means little without the seeds' band.
    """
    wanted = [float(lam) for lam in str(lams).split("+")]
    for lam in wanted:
        registry.find(VARIANTS, f"twin:lam={lam:g},start={start}", "variant")
    base = plan.base()
    others: list[tuple[str, float, Path]] = [
        ("seed", float("nan"), run) for run in seed_runs(plan, seeds)[1:]
    ]
    for lam in wanted:
        others.append(("twin", lam, plan.variant(f"twin:lam={lam:g},start={start}", base=base)))
    lines, examples = [], []
    for kind, lam, run in others:
        apart = plan.diverge(base, run)
        examples.append(apart.assign(kind=kind, lam=lam))
        lines.append(_line(plan, kind, lam, base, run, apart))
    question = "How far can the attention be moved while the predictions stay?"
    runs = (base, *(run for _, _, run in others))
    summary = pd.DataFrame(lines)
    together = pd.concat(examples, ignore_index=True)
    return Findings("adversarial", question, summary, together, runs, answers.adversarial(summary))


def _line(
    plan: InterventionContext, kind: str, lam: float, base: Path, run: Path, apart: pd.DataFrame
) -> dict[str, Any]:
    accuracy = plan.perform(base, run).set_index("metric").loc["accuracy"]
    return {
        "kind": kind,
        "lam": lam,
        **mean_with_interval(apart["jsd"], "jsd", plan.cell.seed),
        **mean_with_interval(apart["tvd"], "tvd", plan.cell.seed),
        "accuracy": accuracy["second"],
        "accuracy_lost": accuracy["difference"],
        "accuracy_lost_low": accuracy["low"],
        "accuracy_lost_high": accuracy["high"],
    }
