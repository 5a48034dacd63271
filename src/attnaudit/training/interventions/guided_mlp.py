"""Whose attention teaches best? A context-free model that must use attention from elsewhere (Wiegreffe & Pinter 2019, table 3)."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from attnaudit.core.option_limits import COUNT, NOT_NEGATIVE, limits
from attnaudit.results.findings import Findings
from attnaudit.training.interventions import answers
from attnaudit.training.interventions.context import InterventionContext


@limits(lam=NOT_NEGATIVE, hidden=COUNT)
def guided_mlp(plan: InterventionContext, *, lam: float = 1e-3, hidden: int = 128) -> Findings:
    """An MLP trained with uniform attention, its own, the base's, and that of the base's adversarial twin: which does best?

    If the base's attention beats uniform and the twin's, it carries something about the words that is not the base's alone.
    """
    base = plan.base()
    twin = plan.variant(f"twin:lam={lam:g}", base=base)
    encoder = f"mlp:hidden={hidden}"
    taught: dict[str, Path] = {
        "uniform": plan.variant("imposed:source=uniform", encoder=encoder),
        "its own": plan.variant(encoder=encoder),
        "the base's": plan.variant("imposed:source=base", base=base, encoder=encoder),
        "the twin's": plan.variant("imposed:source=base", base=twin, encoder=encoder),
    }
    reference = taught["uniform"]
    lines = []
    for source, run in taught.items():
        found = plan.perform(run, reference)
        lines += [
            {"attention": source, "metric": line.metric, "score": line.first, "above uniform": line.difference,
             "low": line.low, "high": line.high}
            for line in found.itertuples()
        ]  # fmt: skip
    question = "Which attention helps a context-free model most?"
    summary, runs = pd.DataFrame(lines), (base, twin, *taught.values())
    return Findings(
        "guided_mlp", question, summary, pd.DataFrame(), runs, answers.guided_mlp(summary)
    )
