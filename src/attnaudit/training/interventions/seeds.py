"""Is the attention stable? The same model from other seeds (Wiegreffe & Pinter 2019).

These distances are the baseline for every other comparison.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pandas as pd

from attnaudit.audits.declaration import DIVERGENCE, SHARE
from attnaudit.core.option_limits import Number, limits
from attnaudit.results.findings import Findings
from attnaudit.training.interventions import answers
from attnaudit.training.interventions.context import InterventionContext, mean_with_interval


@limits(count=Number(least=2, whole=True))
def seeds(context: InterventionContext, *, count: int = 3) -> Findings:
    """Train `count` models that differ only by seed: JSD and TVD of every pair, per example."""
    runs = seed_runs(context, count)
    examples = pairs_apart(context, runs)
    question = "How far apart are models that differ by seed alone?"
    summary = summarise_pairs(examples, context.experiment.seed)
    return Findings("seeds", question, summary, examples, tuple(runs), answers.seeds(summary))


def seed_runs(context: InterventionContext, count: int) -> list[Path]:
    """The base and runs of the seeds that follow, `count` in all."""
    first = context.experiment.seed
    others = [context.member(seed=first + step) for step in range(1, count)]
    return context.train(context.experiment, *others)


def pairs_apart(context: InterventionContext, runs: list[Path]) -> pd.DataFrame:
    """One line per example and pair of runs."""
    distances = [
        context.diverge(a, b).assign(pair=f"{i}–{j}")
        for (i, a), (j, b) in combinations(enumerate(runs), 2)
    ]
    return pd.concat(distances, ignore_index=True)


def summarise_pairs(examples: pd.DataFrame, seed: int) -> pd.DataFrame:
    """One line per pair, and one for all pairs."""
    groups = [(str(pair), group) for pair, group in examples.groupby("pair")]
    # Over all pairs an example counts once, with its mean: its pairs are not independent.
    together = examples.groupby("example_id", as_index=False)[["jsd", "tvd"]].mean()
    return pd.DataFrame(
        [
            {
                "pair": name,
                **mean_with_interval(part["jsd"], "jsd", seed, DIVERGENCE),
                **mean_with_interval(part["tvd"], "tvd", seed, SHARE),
            }
            for name, part in [*groups, ("all", together)]
        ]
    )
