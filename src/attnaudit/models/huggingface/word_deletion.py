"""The logits without each word: leave-one-out, with many shorter texts in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attnaudit.core.contract import Record
from attnaudit.models.huggingface import passes

if TYPE_CHECKING:
    from attnaudit.models.huggingface.model import HuggingFaceModel


def leave_out(model: HuggingFaceModel, record: Record) -> Tensor:
    """Return the logits without each item (B,N,C), by the model's own attention function.

    NaN as in `attnaudit.core.item_deletion`.
    """
    batch = record.batch
    logits = record.logits.new_full((*record.content.shape, record.logits.shape[1]), torch.nan)
    example, item = (record.content & (record.length > 1)[:, None]).nonzero(as_tuple=True)
    texts_at_once = max(1, model.tokens_at_once() // batch.tokens.shape[1])
    for part in torch.arange(len(example)).split(texts_at_once):
        if not len(part):  # texts of one word: nothing would be left
            break
        rows, dropped = example[part], item[part]
        shorter = batch.rows(rows).without(record.item_of_token[rows] == dropped[:, None])
        inputs, positions = model.model_inputs(shorter)
        out = passes.plain_logits(model.model, inputs)
        logits[rows, dropped] = model.decision.logits(out, positions).to(logits.dtype)
    return logits
