"""The mean over all rows of a site: the heatmap most often shown of a model with many heads."""

from __future__ import annotations

from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.measures.rounding import of_each_score, rounding_error


@rounding_error(of_each_score)
def head_mean(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """Mean of alpha over the rows that attend to anything (B,N). High: many heads look there, whatever they do with what they see."""
    if record.alpha.shape[1] == 1:
        raise NotApplicable("the site has one row, which is its own mean")
    rows = record.mask.any(-1).sum(-1, keepdim=True).clamp_min(1)
    return record.alpha.detach().sum(1) / rows
