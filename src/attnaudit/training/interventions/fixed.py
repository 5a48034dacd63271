"""Does the attention follow the representation, or the representation the attention? (Wen et al. 2022, table 2)"""

from __future__ import annotations

import pandas as pd

from attnaudit.results.findings import Findings
from attnaudit.training.interventions import answers
from attnaudit.training.interventions.context import InterventionContext, mean_with_interval


def fix_representation(plan: InterventionContext) -> Findings:
    """Encoder frozen, attention and output trained again: does the same attention come back?"""
    return _against_base(
        plan,
        "fix_representation",
        "With the representation held, does the same attention come back?",
    )


def fix_attention(plan: InterventionContext) -> Findings:
    """The base's attention held, encoder and output trained again: does the model do as well?"""
    return _against_base(
        plan, "imposed:source=base", "With the attention held, does a new encoder do as well?"
    )


def _against_base(plan: InterventionContext, variant: str, question: str) -> Findings:
    base = plan.base()
    other = plan.variant(variant, base=base, seed=plan.cell.seed + 1)
    seed_only = plan.variant(seed=plan.cell.seed + 1)
    lines, examples = [], []
    for name, run in (("held", other), ("other seed", seed_only)):
        apart = plan.diverge(base, run)
        accuracy = plan.perform(base, run).set_index("metric").loc["accuracy"]
        examples.append(apart.assign(kind=name))
        lines.append(
            {
                "model": name,
                **mean_with_interval(apart["jsd"], "jsd", plan.cell.seed),
                **mean_with_interval(apart["tvd"], "tvd", plan.cell.seed),
                "accuracy": accuracy["second"],
                "accuracy_lost": accuracy["difference"],
                "accuracy_lost_low": accuracy["low"],
                "accuracy_lost_high": accuracy["high"],
            }
        )
    name = "fix_attention" if variant.startswith("imposed") else variant
    summary, together = pd.DataFrame(lines), pd.concat(examples, ignore_index=True)
    answer = (
        answers.fix_attention(summary)
        if name == "fix_attention"
        else answers.fix_representation(summary)
    )
    return Findings(name, question, summary, together, (base, other, seed_only), answer)
