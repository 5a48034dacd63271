"""The logits without each item: the item is deleted from the text and the text is read again.

This is in `core` because models, laws and measures all need it, and measures never import models.
"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record

_MAX_TOKENS = 2**15  # read at once


def leave_out(model: AttentionModel, record: Record) -> Tensor:
    """Logits (B,N,C) without each item, by the model's own `leave_out` if it has one."""
    own = getattr(model, "leave_out", None)
    return own(record) if own is not None else leave_out_by_reading(model, record)


def leave_out_by_reading(model: AttentionModel, record: Record) -> Tensor:
    """Logits (B,N,C) without each item, by reading every shortened text.

    NaN for items that are not content, and where nothing would be left of the text.
    """
    batch, tokens = record.batch, record.batch.tokens.shape[1]
    logits = torch.full(
        (*record.content.shape, record.logits.shape[1]), torch.nan, dtype=record.logits.dtype
    )
    logits = logits.to(record.logits.device)
    removable = record.content & (record.length > 1)[:, None]
    example, item = removable.nonzero(as_tuple=True)
    if not len(example):
        return logits
    for part in torch.arange(len(example)).split(max(1, _MAX_TOKENS // tokens)):
        rows, dropped = example[part], item[part]
        drop = record.item_of_token[rows] == dropped[:, None]
        shorter = model.read(batch.rows(rows).without(drop))
        logits[rows, dropped] = shorter.logits.to(logits.dtype)
    return logits
