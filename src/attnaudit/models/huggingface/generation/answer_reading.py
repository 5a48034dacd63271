"""One pass over prompts with their answers as a record, and passes under other attention."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attnaudit.core.contract import Record
from attnaudit.data.citations import FIRST_SOURCE, CitationBatch
from attnaudit.models.answer_logits import two_logits
from attnaudit.models.huggingface.generation import answer_passes
from attnaudit.models.huggingface.generation.answer_passes import Sequences
from attnaudit.models.huggingface.generation.source_attention import CROSS, SELF, SourceTape
from attnaudit.models.huggingface.generation.spans import mean_of_span, one_hot, over_span

if TYPE_CHECKING:
    from attnaudit.models.huggingface.generation.model import GenerationModel


@dataclass(frozen=True, eq=False)
class State:
    """What was read, and the log-probabilities that are known already."""

    sequences: Sequences
    masses: Tensor  # (B,R,A,N)
    rollout: Tensor | None  # (B,N)
    known: list[dict[tuple[bool, ...], float]] = field(default_factory=list)  # by kept sources


def read_answers(
    model: GenerationModel,
    batch: CitationBatch,
    embeddings: Tensor | None = None,
    *,
    with_rollout: bool = False,
) -> Record:
    """Run the model on a batch; `embeddings` (B,T,E) replace the prompt's own."""
    assert batch.target is not None
    sequences = answer_passes.sequences_of(batch, model.decoder_start)
    tape = tape_of(model, batch, sequences, with_rollout)
    found, embedded = answer_passes.token_log_probs(
        model.model,
        batch,
        sequences,
        tape=tape,
        embedding=model.embedding,
        embeddings=embeddings,
    )
    assert embedded is not None  # an embedding module was given
    values = mean_of_span(found, batch)
    layers = torch.stack(tape.masses, 1)  # (B,L,H,A,N)
    chosen = torch.tensor(model.row_numbers, device=layers.device)
    masses = layers[:, chosen[:, 0], chosen[:, 1]]
    alpha = over_span(masses, batch.target)
    rollout = None
    if with_rollout:
        flow = tape.rollout[SELF]
        place = sequences.queries.clamp_min(0)[..., None].expand(-1, -1, flow.shape[-1])
        rollout = over_span(flow.gather(1, place), batch.target)
    held = batch.has_source[:, FIRST_SOURCE:].tolist()
    known = [
        {tuple(whole): value} for whole, value in zip(held, values.detach().tolist(), strict=True)
    ]
    return Record(
        batch=batch,
        embeddings=embedded,
        hidden=None,
        alpha=alpha,
        # A window may hide an item from every query; it is an item of the prompt all the same.
        mask=tape.belongs.any(1)[:, None].expand_as(alpha),
        content=batch.has_source,
        item_of_token=batch.item_of_token,
        logits=two_logits(values),
        state=State(sequences, masses, rollout, known),
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
    tape = tape_of(model, batch, state.sequences)
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
    batch: CitationBatch,
    sequences: Sequences,
    with_rollout: bool = False,
) -> SourceTape:
    """What is to be read in a forward pass."""
    return SourceTape(
        belongs=one_hot(sequences.item, batch.item_count),
        queries=sequences.queries,
        kinds=model.kinds,
        audited=SELF if model.decoder_start is None else CROSS,
        with_rollout=with_rollout,
    )
