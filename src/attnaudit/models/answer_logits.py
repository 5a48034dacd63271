"""The probability of an answer as the logits of two classes: this answer, and another."""

from __future__ import annotations

import torch
from torch import Tensor


def two_logits(log_prob: Tensor) -> Tensor:
    """ln p and ln(1 - p) of (…,) as (…,2); finite also for p = 1.

    Examples
    --------
    >>> two_logits(torch.tensor([-0.5])).log_softmax(-1)[:, 0]
    tensor([-0.5000])
    """
    tiny = torch.finfo(log_prob.dtype).tiny
    return torch.stack([log_prob, (-torch.expm1(log_prob)).clamp_min(tiny).log()], -1)
