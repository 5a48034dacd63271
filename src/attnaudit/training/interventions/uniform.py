"""Is attention needed? The same model trained with uniform, or with random, attention (Wiegreffe & Pinter 2019)."""

from __future__ import annotations

import pandas as pd

from attnaudit.results.findings import Findings
from attnaudit.training.interventions import answers
from attnaudit.training.interventions.context import InterventionContext


def uniform(plan: InterventionContext) -> Findings:
    """Trained from scratch with uniform attention: how much performance is lost?"""
    base, other = plan.base(), plan.variant(projection="uniform")
    question = "Does the model do worse when it is trained with uniform attention?"
    lost = plan.perform(base, other).rename(columns={"first": "trained", "second": "uniform"})
    answer = answers.without_attention(lost, "uniform")
    return Findings("uniform", question, lost, pd.DataFrame(), (base, other), answer)


def random(plan: InterventionContext) -> Findings:
    """Trained from scratch with attention drawn at random for each text."""
    base, other = plan.base(), plan.variant("imposed:source=random")
    question = "Does the model do worse when it is trained with random attention?"
    lost = plan.perform(base, other).rename(columns={"first": "trained", "second": "random"})
    answer = answers.without_attention(lost, "random")
    return Findings("random", question, lost, pd.DataFrame(), (base, other), answer)
