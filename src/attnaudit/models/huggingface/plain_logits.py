"""The logits of texts, and of texts without each word, by the model's own attention function."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attnaudit.core.contract import Batch, Record
from attnaudit.core.passes_by_length import passes_by_length
from attnaudit.core.tolerance import tolerance_of
from attnaudit.models.huggingface import passes
from attnaudit.models.huggingface.passes import Inputs
from attnaudit.models.huggingface.top_layer import has_hooks, top_layer_for
from attnaudit.models.interception import last_position

if TYPE_CHECKING:
    from attnaudit.models.huggingface.model import HuggingFaceModel

# Tokens per pass. On a CPU, what a layer computes then stays in the cache, and texts of similar
# length need little padding; other devices want more work at once.
_TOKENS_ON_CPU = 2**9
_TOKENS_ELSEWHERE = 2**14
_WHOLE_TEXTS_AT_ONCE = 2**15  # tokens, before words are deleted


def read_logits(model: HuggingFaceModel, batch: Batch) -> Tensor:
    """Return the logits (B,C), texts of similar length in one pass."""
    inputs, positions = model.model_inputs(batch)
    length = last_position(inputs.mask) + 1
    most = _TOKENS_ON_CPU if inputs.ids.device.type == "cpu" else _TOKENS_ELSEWHERE
    most = min(most, model.tokens_at_once())
    read: list[Tensor] = []
    parts: list[Tensor] = []
    for part, width in passes_by_length(length, most):
        read.append(part)
        parts.append(
            logits_of_pass(
                model, inputs.rows(part, width), positions[part], short=model.top_layer_is_short
            )
        )
    logits = torch.cat(parts)
    return torch.empty_like(logits).index_copy(0, torch.cat(read), logits)


def logits_of_pass(
    model: HuggingFaceModel, inputs: Inputs, positions: Tensor, *, short: bool
) -> Tensor:
    """Return the logits (B,C) at positions (B,); short: as in `top_layer`."""
    short = short and not has_hooks(model.wiring)
    with top_layer_for(model.wiring, positions) if short else nullcontext():
        out = passes.plain_logits(model.model, inputs)
    return model.decision.logits(out, positions)


def top_layer_may_be_short(model: HuggingFaceModel, trial: Batch) -> bool:
    """Return whether the last layer for one token gives the same logits on trial texts."""
    inputs, positions = model.model_inputs(trial)
    with torch.no_grad():
        expected = logits_of_pass(model, inputs, positions, short=False)
        try:
            logits = logits_of_pass(model, inputs, positions, short=True)
        except (RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError):
            return False  # this family's layers cannot be run for one token
    return bool((logits - expected).abs().max() <= tolerance_of(expected))


def leave_out(model: HuggingFaceModel, record: Record) -> Tensor:
    """Return the logits without each item (B,N,C).

    NaN as in `attnaudit.core.item_deletion`.
    """
    batch = record.batch
    logits = record.logits.new_full((*record.content.shape, record.logits.shape[1]), torch.nan)
    example, item = (record.content & (record.length > 1)[:, None]).nonzero(as_tuple=True)
    texts_at_once = max(1, _WHOLE_TEXTS_AT_ONCE // batch.tokens.shape[1])
    for rows, dropped in zip(example.split(texts_at_once), item.split(texts_at_once), strict=True):
        if len(rows):  # of texts of one word, nothing would be left
            shorter = batch.rows(rows).without(record.item_of_token[rows] == dropped[:, None])
            logits[rows, dropped] = read_logits(model, shorter).to(logits.dtype)
    return logits
