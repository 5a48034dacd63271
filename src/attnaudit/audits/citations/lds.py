"""Do the scores foresee what happens when random sources are left out? (LDS)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.audits.declaration import CORRELATION, Declaration, Metric, Values, declares
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.option_limits import COUNT, limits
from attnaudit.measures.citations.answer_values import kept_log_prob
from attnaudit.measures.citations.source_sets import source_sets
from attnaudit.statistics.rank_correlation import spearman


@declares(
    Declaration(
        question="Do the scores foresee what happens when random sources are left out?",
        metrics={
            "lds": Metric(
                "linear datamodelling score: rank correlation of the summed scores of the sources "
                "that are left with the log-probability of the answer",
                "lds@random",
                1.0,
                CORRELATION,
            )
        },
    )
)
@limits(samples=COUNT)
def lds(
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
    *,
    samples: int = 32,
) -> Values:
    """Spearman's rho over random sets of sources (Park et al. 2023, Cohen-Wang et al. 2024).

    None of the sets was used to fit the surrogate.

    Parameters
    ----------
    samples : int, default 32
        Sets of sources; half of all possible sets if these are fewer.

    Returns
    -------
    dict of Tensor (B,)
        NaN where scores are undefined or all sums are equal.
    """
    _, sets = source_sets(record, seed, count=samples)
    values = kept_log_prob(model, record, sets.keep)
    found: Values = {}
    for name, score in scores.items():
        unknown = (score.isnan() & record.content).any(-1)
        filled = score.double().masked_fill(~record.content | score.isnan(), 0.0)
        sums = torch.einsum("bkn,bn->bk", sets.keep.double(), filled)
        rho = spearman(sums, values, sets.real)
        found[name, "lds"] = rho.masked_fill(unknown, torch.nan)
    return found
