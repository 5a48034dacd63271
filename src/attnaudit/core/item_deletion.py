"""The logits without each item: the item is deleted from the text and the text is read again.

This is in `core` because models, laws and measures all need it, and measures never import models.
"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.kept_values import KeptValues
from attnaudit.core.memory_budget import texts_at_once

_LOGITS: KeptValues[Tensor] = KeptValues()


@torch.no_grad()
def leave_out(model: AttentionModel, record: Record) -> Tensor:
    """Logits (B,N,C) without each item, by the model's own `leave_out` if it has one.

    Computed once per record and model; do not change the result in place. NaN for items that are
    not content, and where nothing would be left of the text.
    """
    known = known_leave_out(model, record)
    if known is not None:
        return known
    own = getattr(model, "leave_out", None)
    logits = own(record) if own is not None else leave_out_by_reading(model, record)
    _LOGITS.keep(model, record, logits)
    return logits


def known_leave_out(model: AttentionModel, record: Record) -> Tensor | None:
    """The logits of `leave_out` if they have been computed, and None otherwise."""
    return _LOGITS.find(model, record)


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
    for part in torch.arange(len(example)).split(texts_at_once(tokens)):
        rows, dropped = example[part], item[part]
        drop = record.item_of_token[rows] == dropped[:, None]
        shorter = model.read(batch.rows(rows).without(drop))
        logits[rows, dropped] = shorter.logits.to(logits.dtype)
    return logits
