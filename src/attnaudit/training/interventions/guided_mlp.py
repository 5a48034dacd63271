"""Does attention help another, context-free model? (Wiegreffe & Pinter 2019, table 3)"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from attnaudit.core.option_limits import COUNT, NOT_NEGATIVE, limits
from attnaudit.results.findings import Findings
from attnaudit.training.interventions import answers
from attnaudit.training.interventions.context import InterventionContext


@limits(lam=NOT_NEGATIVE, hidden=COUNT)
def guided_mlp(context: InterventionContext, *, lam: float = 1e-3, hidden: int = 128) -> Findings:
    """Train an MLP with uniform attention, its own, the base's, and the adversarial twin's.

    If the attention of the base beats uniform attention and the twin's, it carries information
    about the words that other models can use.
    """
    encoder = f"mlp:hidden={hidden}"
    base, of_uniform, own = context.train(
        context.experiment,
        context.member("imposed:source=uniform", encoder=encoder),
        context.member(encoder=encoder),
    )
    twin, of_base = context.train(
        context.member(f"twin:lam={lam:g}", base=base),
        context.member("imposed:source=base", base=base, encoder=encoder),
    )
    (of_twin,) = context.train(context.member("imposed:source=base", base=twin, encoder=encoder))
    runs_by_attention: dict[str, Path] = {
        "uniform": of_uniform,
        "its own": own,
        "the base's": of_base,
        "the twin's": of_twin,
    }
    lines = []
    for source, run in runs_by_attention.items():
        scores = context.perform(run, runs_by_attention["uniform"])
        lines += [
            {
                "attention": source,
                "metric": line.metric,
                "score": line.first,
                "above uniform": line.difference,
                "low": line.low,
                "high": line.high,
            }
            for line in scores.itertuples()
        ]
    question = "Which attention helps a context-free model most?"
    summary, runs = pd.DataFrame(lines), (base, twin, *runs_by_attention.values())
    return Findings(
        "guided_mlp", question, summary, pd.DataFrame(), runs, answers.guided_mlp(summary)
    )
