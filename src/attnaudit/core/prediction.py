"""The logits of a batch where nothing else of the record is needed."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import memory_budget
from attnaudit.core.contract import AttentionModel, Batch
from attnaudit.core.passes_by_length import passes_by_length

# Tokens per pass on a CPU: what an encoder computes then stays in the cache, and texts of similar
# length need little padding. Other devices want more work at once.
_TOKENS_ON_CPU = 2**11


def logits_of(model: AttentionModel, batch: Batch) -> Tensor:
    """The logits (B,C) of a batch, by the fastest way that the model offers.

    Without one, texts of similar length are read together, in passes that are fast on a CPU; but
    texts with gaps in their mask, which would be closed, all at once.

    Examples
    --------
    >>> from attnaudit.models.glass import Glass, glass_batch
    >>> logits_of(Glass("oracle"), glass_batch(3)).shape
    torch.Size([3, 2])
    """
    reader: AttentionModel = getattr(model, "without_readout", model)
    own = getattr(reader, "read_logits", None)
    if own is not None:
        return own(batch)
    most = memory_budget.TOKENS_AT_ONCE
    if batch.mask.device.type == "cpu":
        most = min(most, _TOKENS_ON_CPU)
    has_gaps = bool((batch.mask[:, 1:] & ~batch.mask[:, :-1]).any())
    if has_gaps or batch.mask.numel() <= most:
        return reader.read(batch).logits
    read: list[Tensor] = []
    parts: list[Tensor] = []
    for part, _ in passes_by_length(batch.mask.sum(-1), most):
        some = batch.rows(part)
        read.append(part)
        parts.append(reader.read(some.without(torch.zeros_like(some.mask))).logits)
    logits = torch.cat(parts)
    return torch.empty_like(logits).index_copy(0, torch.cat(read), logits)
