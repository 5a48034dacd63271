"""Attention averaged over all rows, as a measure; `audits/heatmap.py` is what the card judges."""

from __future__ import annotations

from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.measures.rounding import of_each_score, rounding_error


@rounding_error(of_each_score)
def head_mean(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """Mean of alpha (B,N) over the rows that attend to anything."""
    if record.alpha.shape[1] == 1:
        raise NotApplicable("the site has one row, which is its own mean")
    rows = record.mask.any(-1).sum(-1, keepdim=True).clamp_min(1)
    return record.alpha.detach().sum(1) / rows
