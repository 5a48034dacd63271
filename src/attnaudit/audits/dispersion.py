"""How spread out are attention and importance over the words? (Meister et al. 2021, tables 1-2)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.audits.declaration import Declaration, Metric, Values, declares
from attnaudit.audits.per_row import per_row
from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Record


@declares(
    Declaration(
        question="How spread out are attention and importance over the words?",
        metrics={
            "entropy": Metric(
                "normalised entropy of the scores over the words; 1 = uniform, 0 = all on one word",
                0.0,
                1.0,
            ),
            "zeros": Metric("share of words with zero attention", 0.0, 1.0),
            "entropy_influence": Metric(
                "normalised entropy of the influence of the words on a state, mean over states",
                0.0,
                1.0,
            ),
        },
        blind={
            "inert": "attention is as sharp as Oracle's, although it cannot change the prediction",
            "shifted": "attention is as sharp as Oracle's, although on the wrong word",
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
    """Normalised entropy of attention and of every measure, scaled to sum to 1.

    Parameters
    ----------
    influence : bool, default False
        Also the entropy of the influence of the words on each hidden state (eq. 5); one backward
        pass per word, unless the model has a faster way.

    Returns
    -------
    dict of Tensor (B,R) or (B,)
        `entropy` of |scores| divided by log N, NaN with fewer than two words or if all scores are
        0; `zeros` of the attention; `entropy_influence`, the mean over states.
    """
    values: Values = {
        (name, "entropy"): per_row(record, _entropy, score)
        for name, score in scores.items()
        if name != "random"
    }
    real = record.content[:, None] & record.mask
    values["attention", "zeros"] = masking.mean((record.alpha == 0).double(), real)
    if influence:
        from attnaudit.measures.influence import influence_matrix

        matrix = influence_matrix(model, record)  # (B,N,N): state, word
        spread = statistics.entropy(matrix, record.content[:, None].expand_as(matrix))
        values["influence", "entropy_influence"] = masking.mean(
            spread.nan_to_num(0.0), record.content & ~spread.isnan()
        )
    return values


def _entropy(scores: Tensor, mask: Tensor) -> Tensor:
    spread = statistics.entropy(masking.fill(scores.abs(), mask), mask)
    return spread.masked_fill((scores.isnan() & mask).any(-1), torch.nan)
