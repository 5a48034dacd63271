"""The attention weights themselves, as a ranking."""

from __future__ import annotations

from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.measures.rounding import of_each_score, rounding_error


@rounding_error(of_each_score)
def attention(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """The attention weights alpha (B,R,N)."""
    return record.alpha.detach()
