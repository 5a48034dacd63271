"""The logits without each item: deleted from the text, read again, attention computed anew."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record

_TOKENS_AT_ONCE = 2**15


def leave_out(model: AttentionModel, record: Record) -> Tensor:
    """(B,N,C): through the model's own `leave_out` where it has one, else by reading again."""
    own = getattr(model, "leave_out", None)
    return own(record) if own is not None else leave_out_by_reading(model, record)


def leave_out_by_reading(model: AttentionModel, record: Record) -> Tensor:
    """(B,N,C), the plain path. NaN for items that do not count and where nothing would be left of the text."""
    batch, tokens = record.batch, record.batch.tokens.shape[1]
    logits = torch.full(
        (*record.content.shape, record.logits.shape[1]), torch.nan, dtype=record.logits.dtype
    )
    logits = logits.to(record.logits.device)
    counted = record.content & (record.length > 1)[:, None]
    example, item = counted.nonzero(as_tuple=True)
    if not len(example):
        return logits
    for part in torch.arange(len(example)).split(max(1, _TOKENS_AT_ONCE // tokens)):
        rows, dropped = example[part], item[part]
        drop = record.item_of_token[rows] == dropped[:, None]
        shorter = model.read(batch.rows(rows).without(drop))
        logits[rows, dropped] = shorter.logits.to(logits.dtype)
    return logits
