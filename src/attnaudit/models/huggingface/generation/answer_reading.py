"""One pass over prompts with their answers as a record, and passes under other attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from attnaudit.core.contract import Record
from attnaudit.data.citations import CitationBatch
from attnaudit.models.answer_logits import two_logits
from attnaudit.models.huggingface.generation import answer_passes
from attnaudit.models.huggingface.generation.answer_passes import Sequences
from attnaudit.models.huggingface.generation.source_attention import (
    CROSS,
    SELF,
    ItemSums,
    SourceTape,
)
from attnaudit.models.huggingface.generation.spans import mean_of_span, one_hot, over_span

if TYPE_CHECKING:
    from attnaudit.models.huggingface.generation.model import GenerationModel


@dataclass(frozen=True, eq=False)
class State:
    """What was read, and the log-probabilities that are known already."""

    sequences: Sequences
    masses: Tensor  # (B,R,A,N)
    rollout: Tensor | None  # (B,N)
    known: list[dict[bytes, float]]  # per example, by the tokens that were kept
    words: Record | None = None  # of the same pass with words as items, if both levels were read
    # Of words: what passes over the same prompts have given already, by name.
    passes: dict[str, Any] = field(default_factory=dict)

    def leave_for_words(self, name: str, found: Any) -> None:
        """Keep what a pass gave for the words, if both levels were read."""
        if self.words is not None:
            self.words.state.passes[name] = found


def read_answers(
    model: GenerationModel,
    batch: CitationBatch,
    embeddings: Tensor | None = None,
    *,
    with_rollout: bool = False,
) -> Record:
    """Run the model on a batch; `embeddings` (B,T,E) replace the prompt's own.

    Of a batch for both levels, one pass gives the record of the sources and, in its state, that of
    the words.
    """
    batches = [batch] if batch.words is None else [batch, batch.of_words()]
    runs = [answer_passes.sequences_of(each, model.decoder_start) for each in batches]
    tape = tape_of(model, batches, runs, with_rollout)
    found, embedded = answer_passes.token_log_probs(
        model.model,
        batch,
        runs[0],
        tape=tape,
        embedding=model.embedding,
        embeddings=embeddings,
    )
    assert embedded is not None  # an embedding module was given
    values = mean_of_span(found, batch)
    whole = [mask.cpu().numpy().tobytes() for mask in batch.mask]
    known = [{key: value} for key, value in zip(whole, values.detach().tolist(), strict=True)]
    record = None
    for each, run, level in reversed(list(zip(batches, runs, tape.levels, strict=True))):
        record = _record(model, each, run, level, embedded, values, known, words=record)
    assert record is not None  # there is one level or more
    return record


def _record(
    model: GenerationModel,
    batch: CitationBatch,
    sequences: Sequences,
    level: ItemSums,
    embedded: Tensor,
    values: Tensor,
    known: list[dict[bytes, float]],
    *,
    words: Record | None,
) -> Record:
    """The record of a pass, with the items of this batch."""
    assert batch.target is not None
    layers = torch.stack(level.masses, 1)  # (B,L,H,A,N)
    chosen = torch.tensor(model.row_numbers, device=layers.device)
    masses = layers[:, chosen[:, 0], chosen[:, 1]]
    alpha = over_span(masses, batch.target)
    rollout = None
    if (flow := level.rollout.get(SELF)) is not None:
        place = sequences.queries.clamp_min(0)[..., None].expand(-1, -1, flow.shape[-1])
        rollout = over_span(flow.gather(1, place), batch.target)
    return Record(
        batch=batch,
        embeddings=embedded,
        hidden=None,
        alpha=alpha,
        # A window may hide an item from every query; it is an item of the prompt all the same.
        mask=level.belongs.any(1)[:, None].expand_as(alpha),
        content=batch.has_source,
        item_of_token=batch.item_of_token,
        logits=two_logits(values),
        state=State(sequences, masses, rollout, known, words),
    )


def decode_answers(
    model: GenerationModel, record: Record, batch: CitationBatch, alpha: Tensor
) -> Tensor:
    """The logits (B,2) under other attention (B,R,N)."""
    before, state = record.alpha, record.state
    ratio = torch.where(before > 0, alpha / before.where(before > 0, 1.0), 0.0)
    shape = (len(alpha), model.layer_count, model.head_count, alpha.shape[-1])
    whole = torch.ones(shape, dtype=ratio.dtype, device=ratio.device)
    chosen = torch.tensor(model.row_numbers, device=ratio.device)
    whole = whole.index_put(
        (torch.arange(len(alpha), device=ratio.device)[:, None], chosen[:, 0], chosen[:, 1]),
        ratio,
    )
    tape = tape_of(model, [batch], [state.sequences])
    tape.ratios = whole.unbind(1)
    found, _ = answer_passes.token_log_probs(
        model.model,
        batch,
        state.sequences,
        tape=tape,
        embedding=model.embedding,
        embeddings=record.embeddings,
    )
    return two_logits(mean_of_span(found, batch))


def tape_of(
    model: GenerationModel,
    batches: Sequence[CitationBatch],
    runs: Sequence[Sequences],
    with_rollout: bool = False,
) -> SourceTape:
    """What is to be read in a forward pass; one batch per level, all of the same prompts."""
    return SourceTape(
        levels=[
            ItemSums(one_hot(run.item, batch.item_count))
            for batch, run in zip(batches, runs, strict=True)
        ],
        queries=runs[0].queries,
        kinds=model.kinds,
        audited=SELF if model.decoder_start is None else CROSS,
        with_rollout=with_rollout,
    )
