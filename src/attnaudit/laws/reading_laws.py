"""Laws 5 and 6: a text reads the same in any batch, and twice in a row."""

from __future__ import annotations

import math
from dataclasses import replace

import torch

from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.tolerance import tolerance_of
from attnaudit.laws.differences import attention_difference, difference, largest
from attnaudit.laws.report import Law
from attnaudit.laws.unpadded import unpadded


def padding(model: AttentionModel, batch: Batch, record: Record) -> list[Law]:
    """Compare each example alone with itself in a batch whose padding has other tokens."""
    in_batch = model.read(_dirty(batch))
    logits = difference(in_batch.logits, record.logits)
    same_shape = in_batch.alpha.shape == record.alpha.shape
    weights = difference(in_batch.alpha, record.alpha) if same_shape else math.inf
    for index in range(min(len(batch), 8)):
        alone = model.read(unpadded(batch.rows(torch.tensor([index]))))
        logits = largest(logits, difference(alone.logits[0], record.logits[index]))
        weights = largest(weights, attention_difference(record, index, alone))
    if hasattr(model, "read_logits"):  # which may put texts into other batches
        logits = largest(logits, difference(model.read_logits(batch), record.logits))
    others = difference(record.logits, record.logits.roll(1, 0))
    hint = (
        "the padding mask does not reach the encoder or the attention, "
        "or a layer mixes examples (batch norm)"
    )
    return [
        Law(
            "5 padding and batch independence of logits",
            logits,
            tolerance_of(record.logits),
            others,
            hint,
        ),
        Law(
            "5 padding and batch independence of alpha",
            weights,
            tolerance_of(record.alpha),
            hint=hint,
        ),
    ]


def _dirty(batch: Batch) -> Batch:
    """The same texts with other tokens in the padding, also of the query."""
    other = batch.tokens.max()
    query = batch.query
    if query is not None and batch.query_mask is not None:
        query = query.where(batch.query_mask, other)
    return replace(batch, tokens=batch.tokens.where(batch.mask, other), query=query)


def deterministic(model: AttentionModel, batch: Batch, record: Record) -> Law:
    """Law 6: reading the batch again gives the same record."""
    again = model.read(batch)
    error = largest(difference(again.logits, record.logits), difference(again.alpha, record.alpha))
    return Law(
        "6 determinism: reading twice gives the same",
        error,
        0.0,
        hint="dropout or sampling is on: call eval()",
    )
