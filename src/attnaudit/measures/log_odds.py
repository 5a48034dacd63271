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
    return log_odds_of(logits, record.predicted, record.batch.classes)


def log_odds_of(logits: Tensor, predicted: Tensor, classes: Tensor | None) -> Tensor:
    """log p/(1 - p) (M,…) of the classes predicted (M,), from logits (M,…,C).

    The logit minus the log-sum-exp of the other candidate classes (M,C); 0 with a single candidate.

    Examples
    --------
    >>> logits = torch.tensor([[2.0, 0.5]])
    >>> log_odds_of(logits, torch.tensor([0]), None)
    tensor([1.5000])
    """
    chosen = torch.nn.functional.one_hot(predicted, logits.shape[-1]).bool()
    others = ~chosen if classes is None else ~chosen & classes
    while chosen.dim() < logits.dim():
        chosen, others = chosen.unsqueeze(1), others.unsqueeze(1)
    rest = masking.fill(logits, others, torch.finfo(logits.dtype).min).logsumexp(-1)
    # With a single candidate class p is 1 whatever happens.
    return masking.fill(masking.total(logits, chosen) - rest, others.any(-1))


def slope_of_probability(logits: Tensor, record: Record, by: Tensor) -> Tensor:
    """∂p(predicted class)/∂by, from the log-odds o as p(1 - p) ∂o; same shape as `by`.

    The backward pass of softmax rounds p(1 - p) for one class and not for the others: for a
    confident model even the direction of the gradient would be wrong.
    """
    odds = log_odds(logits, record)
    slope = torch.autograd.grad(odds.sum(), by, retain_graph=True)[0]  # others may need it
    return slope_of_odds_to_probability(slope, odds)


def slope_of_odds_to_probability(slope: Tensor, odds: Tensor) -> Tensor:
    """∂p/∂x (B,…) from ∂o/∂x (B,…) and the log-odds o (B,): p(1 - p) times as large."""
    spread = (odds.sigmoid() * (-odds).sigmoid()).detach()
    return slope * spread.view(-1, *[1] * (slope.dim() - 1))
