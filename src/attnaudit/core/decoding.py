"""The logits under other attention, computed the cheapest correct way."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record

_ENTRIES = 2**24  # of alternative attention passed to a model at once


def logits_under(model: AttentionModel, record: Record, alpha: Tensor) -> Tensor:
    """Logits (B,K,C) under K alternative attentions alpha (B,K,R,N).

    Computed from the readout if the record has one, otherwise by `decode` in bounded parts.
    """
    if record.readout is not None:
        return alpha[:, :, 0].to(record.readout.dtype) @ record.readout
    step = max(1, _ENTRIES // max(alpha[:, :1].numel(), 1))
    parts = [model.decode(record, part) for part in alpha.split(step, dim=1)]
    return torch.cat(parts, 1)
