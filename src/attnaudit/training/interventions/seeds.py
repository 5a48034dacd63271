"""Is the attention stable? The same model from other seeds (Wiegreffe & Pinter 2019): the null band for every other comparison."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pandas as pd

from attnaudit.core.option_limits import Number, limits
from attnaudit.results.findings import Findings
from attnaudit.training.interventions import answers
from attnaudit.training.interventions.context import InterventionContext, mean_with_interval


@limits(count=Number(least=2, whole=True))
def seeds(plan: InterventionContext, *, count: int = 3) -> Findings:
    """`count` models that differ by seed alone: JSD of attention and TVD of predictions, pair by pair and example by example."""
    runs = seed_runs(plan, count)
    examples = pairs_apart(plan, runs)
    question = "How far apart are models that differ by seed alone?"
    summary = summarise_pairs(examples, plan.cell.seed)
    return Findings("seeds", question, summary, examples, tuple(runs), answers.seeds(summary))


def seed_runs(plan: InterventionContext, count: int) -> list[Path]:
    return [plan.base(), *(plan.variant(seed=plan.cell.seed + step) for step in range(1, count))]


def pairs_apart(plan: InterventionContext, runs: list[Path]) -> pd.DataFrame:
    """One line an example and pair."""
    found = [
        plan.diverge(a, b).assign(pair=f"{i}–{j}")
        for (i, a), (j, b) in combinations(enumerate(runs), 2)
    ]
    return pd.concat(found, ignore_index=True)


def summarise_pairs(examples: pd.DataFrame, seed: int) -> pd.DataFrame:
    """One line a pair, and one for all of them."""
    groups = [(str(pair), group) for pair, group in examples.groupby("pair")]
    # Over all pairs an example counts once, with its mean: pairs of the same example are not independent.
    together = examples.groupby("example_id", as_index=False)[["jsd", "tvd"]].mean()
    return pd.DataFrame(
        [
            {
                "pair": name,
                **mean_with_interval(part["jsd"], "jsd", seed),
                **mean_with_interval(part["tvd"], "tvd", seed),
            }
            for name, part in [*groups, ("all", together)]
        ]
    )
