"""The attention itself, as a ranking."""

from __future__ import annotations

from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record


def attention(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """alpha (B,R,N)."""
    return record.alpha.detach()
