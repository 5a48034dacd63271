"""How much less likely is the answer without the sources with the largest scores?"""

from __future__ import annotations

import math
import random
from itertools import combinations

import torch
from torch import Tensor

from attnaudit.audits.declaration import NO_CEILING, Declaration, Metric, Values, declares
from attnaudit.core import randomness
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.option_limits import COUNT, limits
from attnaudit.measures.citations.answer_values import kept_log_prob, log_prob

_MOST = 32  # sets of k sources, for what any of them would lose


@declares(
    Declaration(
        question="How much less likely is the answer without the top sources?",
        metrics={
            "drop": Metric(
                "fall of the log-probability per token without the k sources with the largest "
                "scores; floor: any k sources, ceiling: those of leave-one-out",
                "chance",
                "drop@leave_one_out",
            ),
            "chance": Metric("the mean fall without k sources, whichever", 0.0, NO_CEILING),
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
    full = log_prob(record.logits)
    without = kept_log_prob(model, record, torch.stack(kept, 1))
    fall = (full[:, None] - without).masked_fill(torch.stack(unknown, 1), torch.nan)
    values: Values = {(name, "drop"): fall[:, index] for index, name in enumerate(scores)}
    values["", "chance"] = full - _without_any(model, record, full, seed, k)
    return values


def _without_any(model: AttentionModel, record: Record, full: Tensor, seed: int, k: int) -> Tensor:
    """The mean log-probability without k sources (B,): of all sets, or of `_MOST` random ones.

    full: with all of them (B,).
    """
    found = []
    for index, name in enumerate(record.batch.example_id):
        sources = record.content[index].nonzero()[:, 0].tolist()
        if len(sources) <= k:
            found.append(full.new_full((), torch.nan, dtype=torch.float64))
            continue
        if math.comb(len(sources), k) <= _MOST:
            sets = [list(each) for each in combinations(sources, k)]
        else:
            draw = random.Random(randomness.derive(seed, "any sources", name))
            sets = [draw.sample(sources, k) for _ in range(_MOST)]
        keep = record.content[index].repeat(len(sets), 1)
        for row, dropped in zip(keep, sets, strict=True):
            row[dropped] = False
        padded = torch.zeros(len(record.batch), *keep.shape, dtype=torch.bool, device=keep.device)
        padded[:] = record.content[:, None]  # the other examples are not asked about
        padded[index] = keep
        found.append(kept_log_prob(model, record, padded)[index].mean())
    return torch.stack(found).to(record.content.device)
