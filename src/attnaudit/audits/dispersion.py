"""How spread out are attention and importance over the words, and the words over each state? (Meister et al. 2021, tables 1 and 2)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.audits.declaration import Declaration, Metric, Values, declares
from attnaudit.audits.per_row import by_row
from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Record


@declares(
    Declaration(
        question="How spread out are attention and importance over the words, and the words over each state?",
        metrics={
            "entropy": Metric(
                "of the scores over the words, 1 = all alike, 0 = all on one", 0.0, 1.0
            ),
            "zeros": Metric("share of words with no attention at all", 0.0, 1.0),
            "entropy_influence": Metric(
                "of the words behind each state, mean over states; 1 = a state says nothing of one word",
                0.0,
                1.0,
            ),
        },
        blind={
            "inert": "attention is as sharp as the Oracle's, although it cannot change the prediction",
            "shifted": "attention is as sharp as the Oracle's, although on the wrong word",
        },
    )
)
def dispersion(
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
    *,
    influence: bool = False,
) -> Values:
    """Entropy divided by log N of |scores| scaled to sum to 1, for attention and every measure (B,R); NaN with fewer than two words
    or where all scores are 0.

    influence=true: also the mean over states of the entropy of eq. 5, how the words share in each hidden state; as many backward passes as words.
    """
    values: Values = {
        (name, "entropy"): by_row(record, _entropy, score)
        for name, score in scores.items()
        if name != "random"
    }
    real = record.content[:, None] & record.mask
    values["attention", "zeros"] = masking.mean((record.alpha == 0).double(), real)
    if influence:
        from attnaudit.measures.influence import influence_matrix

        behind = influence_matrix(model, record)  # (B,N,N): state, word
        spread = statistics.entropy(behind, record.content[:, None].expand_as(behind))
        values["influence", "entropy_influence"] = masking.mean(
            spread.nan_to_num(0.0), record.content & ~spread.isnan()
        )
    return values


def _entropy(scores: Tensor, mask: Tensor) -> Tensor:
    spread = statistics.entropy(masking.fill(scores.abs(), mask), mask)
    return spread.masked_fill((scores.isnan() & mask).any(-1), torch.nan)
