"""The logits under other attention, by the cheapest correct path."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record

_ENTRIES = 2**24  # of alternative attention handed to a model at once


def logits_under(model: AttentionModel, record: Record, alpha: Tensor) -> Tensor:
    """Logits (B,K,C) under K alternatives alpha (B,K,R,N): through the readout where there is one, else in bounded parts."""
    if record.readout is not None:
        return alpha[:, :, 0].to(record.readout.dtype) @ record.readout
    step = max(1, _ENTRIES // max(alpha[:, :1].numel(), 1))
    parts = [model.decode(record, part) for part in alpha.split(step, dim=1)]
    return torch.cat(parts, 1)
