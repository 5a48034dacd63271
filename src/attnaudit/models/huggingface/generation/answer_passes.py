"""Forward passes over prompts with their answers: the log-probability of each answer token."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from inspect import signature
from typing import Any

import torch
from torch import Tensor

from attnaudit.core.module_state import evaluating
from attnaudit.data.citations import REST, CitationBatch
from attnaudit.models.huggingface.config_patches import attention_configs, attention_switched
from attnaudit.models.huggingface.generation import source_attention
from attnaudit.models.huggingface.generation.source_attention import SourceTape, source_taped
from attnaudit.models.interception import embeddings_captured

TOKENS_AT_ONCE = 2**10


@dataclass(frozen=True, eq=False)
class Sequences:
    """What the model reads: T tokens of the prompt, and for a decoder the answer right after."""

    ids: Tensor  # (B,T)
    mask: Tensor  # (B,T) bool
    item: Tensor  # (B,T) the item of each token, -1 in the padding
    queries: Tensor  # (B,A) the positions that predict the answer's tokens; -1 in the padding
    decoder_ids: Tensor | None = None  # (B,A) of an encoder–decoder model


def sequences_of(batch: CitationBatch, decoder_start: int | None) -> Sequences:
    """The sequences of a batch; decoder_start is given for an encoder–decoder model."""
    assert batch.answer is not None and batch.answer_mask is not None  # noqa: PT018
    lengths = batch.mask.sum(-1)
    place = torch.arange(batch.answer.shape[1], device=lengths.device).expand_as(batch.answer)
    if decoder_start is not None:
        start = torch.full_like(batch.answer[:, :1], decoder_start)
        queries = place.masked_fill(~batch.answer_mask, -1)
        decoder_ids = torch.cat([start, batch.answer[:, :-1]], 1)
        return Sequences(batch.tokens, batch.mask, batch.item_of_token, queries, decoder_ids)
    # The last token of the answer predicts nothing that is asked about, but is kept: it is short.
    width = int((lengths + batch.answer_mask.sum(-1)).max())
    ids = batch.tokens.new_zeros(len(batch), width)
    item = torch.full_like(ids, -1)
    ids[:, : batch.tokens.shape[1]] = batch.tokens.masked_fill(~batch.mask, 0)
    item[:, : batch.tokens.shape[1]] = batch.item_of_token
    example, answer = batch.answer_mask.nonzero(as_tuple=True)
    at = lengths[example] + answer
    ids[example, at], item[example, at] = batch.answer[example, answer], REST
    queries = (lengths[:, None] + place - 1).masked_fill(~batch.answer_mask, -1)
    return Sequences(ids, item >= 0, item, queries)


def token_log_probs(
    model: Any,
    batch: CitationBatch,
    sequences: Sequences,
    *,
    tape: SourceTape | None = None,
    embedding: Any = None,
    embeddings: Tensor | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Log-probability of each answer token (B,A), 0 in the padding, and the prompt's embeddings.

    Parameters
    ----------
    model
        Of transformers; unchanged afterwards.
    batch, sequences
        The examples, and what the model reads of them.
    tape
        To read or replace attention; without it the model's own attention function is used.
    embedding, embeddings
        The embedding module, if embeddings are wanted; embeddings (B,T,E) replace its output.
    """
    assert batch.answer is not None and batch.answer_mask is not None  # noqa: PT018
    captured: list[Tensor] = []
    with ExitStack() as stack:
        stack.enter_context(evaluating(model))
        if tape is not None:
            stack.enter_context(attention_switched(attention_configs(model), source_attention.NAME))
            stack.enter_context(source_taped(tape))
        if embedding is not None:
            captured = stack.enter_context(embeddings_captured(embedding, embeddings))
        logits, first = _logits(model, sequences)
    place = (sequences.queries - first).clamp_min(0)
    rows = logits.gather(1, place[..., None].expand(-1, -1, logits.shape[-1]))
    picked = rows.log_softmax(-1, dtype=_accurate(rows.dtype))
    found = picked.gather(2, batch.answer[..., None])[..., 0]
    return found.masked_fill(~batch.answer_mask, 0.0), captured[0] if captured else None


def _accurate(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype == torch.float64 else torch.float32


def _logits(model: Any, sequences: Sequences) -> tuple[Tensor, int]:
    """The logits from the first query on, and its position.

    A decoder gets no padding mask: padding is on the right, where no token looks.
    """
    parameters = signature(model.forward).parameters
    given: dict[str, Any] = {"input_ids": sequences.ids, "return_dict": True}
    if "use_cache" in parameters:
        given["use_cache"] = False
    if sequences.decoder_ids is not None:
        given |= {
            "attention_mask": sequences.mask.long(),
            "decoder_input_ids": sequences.decoder_ids,
        }
        return model(**given).logits, 0
    first = int(sequences.queries.where(sequences.queries >= 0, sequences.ids.shape[1]).min())
    if "logits_to_keep" not in parameters:
        return model(**given).logits[:, first:], first
    keep = torch.arange(first, sequences.ids.shape[1], device=sequences.ids.device)
    return model(**given, logits_to_keep=keep).logits, first


def in_groups(lengths: Sequence[int], tokens_at_once: int) -> list[list[int]]:
    """Numbers of texts in groups of similar length, of at most so many tokens with padding.

    Examples
    --------
    >>> in_groups([3, 9, 4], 10)
    [[1], [2, 0]]
    """
    groups: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda index: (-lengths[index], index)):
        if groups and lengths[groups[-1][0]] * (len(groups[-1]) + 1) <= tokens_at_once:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups
