"""The log-odds of the predicted class: accurate gradients where those of p are rounded off."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.contract import Record


def log_odds(logits: Tensor, record: Record) -> Tensor:
    """log p/(1 - p) of the class predicted in the record: (B,) from logits (B,C), (B,K) of (B,K,C).

    Its gradient is that of p divided by p(1 - p), one factor per text, which cancels when norms are
    scaled to sum to 1.
    """
    predicted = torch.nn.functional.one_hot(record.predicted, logits.shape[-1]).bool()
    others = ~predicted if record.batch.classes is None else ~predicted & record.batch.classes
    if logits.dim() == 3:
        predicted, others = (each[:, None].expand_as(logits) for each in (predicted, others))
    rest = masking.fill(logits, others, torch.finfo(logits.dtype).min).logsumexp(-1)
    # With a single candidate class p is 1 whatever happens.
    return masking.fill(masking.total(logits, predicted) - rest, others.any(-1))


def slope_of_probability(logits: Tensor, record: Record, by: Tensor) -> Tensor:
    """∂p(predicted class)/∂by, from the log-odds o as p(1 - p) ∂o; same shape as `by`.

    The backward pass of softmax rounds p(1 - p) for one class and not for the others: for a
    confident model even the direction of the gradient would be wrong.
    """
    odds = log_odds(logits, record)
    slope = torch.autograd.grad(odds.sum(), by)[0]
    spread = (odds.sigmoid() * (-odds).sigmoid()).detach()
    return slope * spread.view(-1, *[1] * (slope.dim() - 1))
