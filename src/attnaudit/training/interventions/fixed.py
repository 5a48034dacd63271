"""Does attention depend on the representation, or the reverse? (Wen et al. 2022, table 2)"""

from __future__ import annotations

import pandas as pd

from attnaudit.core.option_limits import OneOf, limits
from attnaudit.results.findings import Findings
from attnaudit.training.interventions import answers
from attnaudit.training.interventions.context import InterventionContext, against_base


def fix_representation(context: InterventionContext) -> Findings:
    """Freeze the encoder, train attention and output again: does the same attention come back?"""
    return _against_base(
        context,
        "fix_representation",
        "With the representation held, does the same attention come back?",
    )


@limits(constant=OneOf(("base", "uniform")))
def fix_attention(context: InterventionContext, *, constant: str = "base") -> Findings:
    """Impose the attention of the base, train encoder and output again: is accuracy the same?

    constant=uniform: the same weight for every word, instead of the base's for each text.
    """
    return _against_base(
        context,
        f"imposed:source={constant}",
        "With the attention held, does a new encoder do as well?",
    )


def _against_base(context: InterventionContext, variant: str, question: str) -> Findings:
    seed = context.experiment.seed + 1
    base, seed_only = context.train(context.experiment, context.member(seed=seed))
    held = None if variant == "imposed:source=uniform" else base
    (other,) = context.train(context.member(variant, base=held, seed=seed))
    lines, examples = [], []
    for name, run in (("held", other), ("other seed", seed_only)):
        distances = context.diverge(base, run)
        examples.append(distances.assign(kind=name))
        lines.append({"model": name, **against_base(context, base, run, distances)})
    name = "fix_attention" if variant.startswith("imposed") else variant
    summary, together = pd.DataFrame(lines), pd.concat(examples, ignore_index=True)
    answer = (
        answers.fix_attention(summary)
        if name == "fix_attention"
        else answers.fix_representation(summary)
    )
    return Findings(name, question, summary, together, (base, other, seed_only), answer)
