"""Is it the only story? Twins that predict alike, attend otherwise (Wiegreffe & Pinter 2019)."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from attnaudit.core import registry
from attnaudit.core.option_limits import COUNT, NOT_NEGATIVE, Joined, limits
from attnaudit.results.findings import Findings
from attnaudit.training.interventions import answers
from attnaudit.training.interventions.context import InterventionContext, against_base
from attnaudit.training.interventions.seeds import seed_runs
from attnaudit.training.variants import VARIANTS


@limits(lams=Joined(NOT_NEGATIVE), seeds=COUNT)
def adversarial(
    context: InterventionContext,
    *,
    lams: str | float = "0.0003+0.001+0.003",
    start: str = "scratch",
    seeds: int = 2,
    keep: str = "last",
) -> Findings:
    """Train a twin for each lam of TVD - lam·KL, and compare it with models of other seeds.

    How far does the attention move, for how much change in the predictions? start=base: encoder
    and output of the base, frozen, with a new scorer; start=all: with the base's scorer.
    keep=best_f1: of each twin the epoch with the best F1 on dev.
    """
    values = [float(lam) for lam in str(lams).split("+")]
    kept = "" if keep == "last" else f",keep={keep}"  # old runs keep their names
    twins = {lam: f"twin:lam={lam:g},start={start}{kept}" for lam in values}
    for variant in twins.values():
        registry.find(VARIANTS, variant, "variant")
    base, *same = seed_runs(context, seeds)
    others: list[tuple[str, float, Path]] = [("seed", float("nan"), run) for run in same]
    runs_of_twins = context.train(*(context.member(twins[lam], base=base) for lam in values))
    others += [("twin", lam, run) for lam, run in zip(values, runs_of_twins, strict=True)]
    lines, examples = [], []
    for kind, lam, run in others:
        distances = context.diverge(base, run)
        examples.append(distances.assign(kind=kind, lam=lam))
        lines.append({"kind": kind, "lam": lam, **against_base(context, base, run, distances)})
    question = "How far can the attention be moved while the predictions stay?"
    runs = (base, *(run for _, _, run in others))
    summary = pd.DataFrame(lines)
    together = pd.concat(examples, ignore_index=True)
    return Findings("adversarial", question, summary, together, runs, answers.adversarial(summary))
