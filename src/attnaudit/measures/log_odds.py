"""The log-odds of the predicted class, whose slope survives in float32 where that of the probability is lost in rounding."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.contract import Record


def log_odds(logits: Tensor, record: Record) -> Tensor:
    """log p/(1 - p) (B,) of the class predicted in the record.

    Its slope is that of p divided by p(1 - p), one number a text, which goes when the norms are made to sum to 1. That of p itself is
    lost in rounding where the model is sure of itself.
    """
    chosen = torch.nn.functional.one_hot(record.predicted, logits.shape[1]).bool()
    others = ~chosen if record.batch.classes is None else ~chosen & record.batch.classes
    rest = masking.fill(logits, others, torch.finfo(logits.dtype).min).logsumexp(-1)
    # With a single candidate p is 1 whatever happens.
    return masking.fill(masking.total(logits, chosen) - rest, others.any(-1))


def slope_of_probability(logits: Tensor, record: Record, by: Tensor) -> Tensor:
    """∂p(predicted class)/∂by, by way of the log-odds o: ∂p = p(1 - p) ∂o.

    Softmax's own backward pass rounds p(1 - p) for the one class and not for the others, so that for a sure model even the direction is wrong.
    """
    odds = log_odds(logits, record)
    slope = torch.autograd.grad(odds.sum(), by)[0]
    spread = (odds.sigmoid() * (-odds).sigmoid()).detach()
    return slope * spread.view(-1, *[1] * (slope.dim() - 1))
