"""Is attention needed? Train with uniform or random attention (Wiegreffe & Pinter 2019)."""

from __future__ import annotations

import pandas as pd

from attnaudit.results.findings import Findings
from attnaudit.training.interventions import answers
from attnaudit.training.interventions.context import InterventionContext


def uniform(context: InterventionContext) -> Findings:
    """Train from scratch with uniform attention: how much performance is lost?"""
    base, other = context.train(context.experiment, context.member(projection="uniform"))
    question = "Does the model do worse when it is trained with uniform attention?"
    lost = context.perform(base, other).rename(columns={"first": "trained", "second": "uniform"})
    answer = answers.without_attention(lost, "uniform")
    return Findings("uniform", question, lost, pd.DataFrame(), (base, other), answer)


def random(context: InterventionContext) -> Findings:
    """Train from scratch with attention drawn at random for each text."""
    base, other = context.train(context.experiment, context.member("imposed:source=random"))
    question = "Does the model do worse when it is trained with random attention?"
    lost = context.perform(base, other).rename(columns={"first": "trained", "second": "random"})
    answer = answers.without_attention(lost, "random")
    return Findings("random", question, lost, pd.DataFrame(), (base, other), answer)
