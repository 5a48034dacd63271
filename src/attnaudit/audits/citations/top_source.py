"""How much less likely is the answer without the sources with the largest scores?"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.audits.declaration import Declaration, Metric, Values, declares
from attnaudit.core import randomness
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.option_limits import COUNT, limits
from attnaudit.measures.citations.answer_values import kept_log_prob, log_prob


@declares(
    Declaration(
        question="How much less likely is the answer without the top sources?",
        metrics={
            "drop": Metric(
                "fall of the log-probability per token without the k sources with the largest "
                "scores; floor: random ones, ceiling: those of leave-one-out",
                "drop@random",
                "drop@leave_one_out",
            )
        },
    )
)
@limits(k=COUNT)
def top_source(
    model: AttentionModel, record: Record, scores: dict[str, Tensor], seed: int, *, k: int = 1
) -> Values:
    """Leave out the k sources with the largest scores, all at once; ties are broken at random.

    Returns
    -------
    dict of Tensor (B,)
        NaN where a score is undefined, or where there are not more than k sources.
    """
    keys = randomness.keys(seed, "top source", record.batch.example_id)
    draws = randomness.uniform(keys, record.content.shape[1]).to(record.content.device)
    kept, unknown = [], []
    for score in scores.values():
        known = score.double().masked_fill(~record.content, -torch.inf)
        undefined = (known.isnan() & record.content).any(-1) | (record.length <= k)
        by_draw = draws.argsort(-1)
        order = by_draw.gather(
            1, known.gather(1, by_draw).argsort(dim=-1, descending=True, stable=True)
        )
        top = torch.zeros_like(record.content).scatter(1, order[:, :k], True)
        kept.append(record.content & ~top)
        unknown.append(undefined)
    without = kept_log_prob(model, record, torch.stack(kept, 1))
    fall = log_prob(record.logits)[:, None] - without
    fall = fall.masked_fill(torch.stack(unknown, 1), torch.nan)
    return {(name, "drop"): fall[:, index] for index, name in enumerate(scores)}
