"""A classifier with one layer of attention: embedding, encoder, attention, output layer."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.core.item_deletion import leave_out_by_reading
from attnaudit.core.special_tokens import END, PAD, UNKNOWN
from attnaudit.models.architecture import (
    Architecture,
    make_encoder,
    make_output,
    make_projection,
    make_scorer,
    query_vector,
)
from attnaudit.models.incremental_deletion import (
    can_share,
    groups_by_length,
    logits_without_each,
)
from attnaudit.models.site_parts import SiteParts


class _State(NamedTuple):
    """What was computed besides the hidden states."""

    query: Tensor | None  # (B,H)
    scores: Tensor  # (B,N), of the attention


class Attentive(nn.Module):
    """One row of attention over the tokens; padding and the start and end tokens get none.

    This is the model of most of the papers, with interchangeable parts.
    """

    def __init__(
        self, architecture: Architecture, *, words: int, classes: int, with_query: bool
    ) -> None:
        super().__init__()
        self.architecture = architecture
        self.embedding = nn.Embedding(words, architecture.embedding, padding_idx=PAD)
        self.encoder = make_encoder(architecture, architecture.embedding)
        self.query_encoder = (
            make_encoder(architecture, architecture.embedding) if with_query else None
        )
        size = self.encoder.size
        query_size = size if with_query else None
        self.scorer = make_scorer(architecture, size, query_size)
        self.projection = make_projection(architecture)
        self.output = make_output(architecture, size, query_size, classes)

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        """Run the model on a batch; `embeddings` (B,T,E) replace its own."""
        if embeddings is None:
            embeddings = self.embedding(batch.tokens)
        hidden = self.encoder(embeddings, batch.mask)
        query = query_vector(self.query_encoder, self.embedding, batch)
        attended = batch.mask & (batch.tokens > END)
        scores = self.scorer(hidden, query)
        alpha = self.projection(scores, attended)[:, None]
        readout = self.output(hidden, query) if self.output.is_linear else None
        item = torch.arange(batch.tokens.shape[1], device=batch.tokens.device).expand_as(
            batch.tokens
        )
        return Record(
            batch=batch,
            embeddings=embeddings,
            hidden=hidden,
            alpha=alpha,
            mask=attended[:, None],
            content=attended,
            item_of_token=item.masked_fill(~attended, -1),
            logits=self._logits(alpha, hidden, query),
            readout=readout,
            state=_State(query, scores),
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        """Return the logits under other attention: (B,1,N) -> (B,C), (B,K,1,N) -> (B,K,C)."""
        assert record.hidden is not None  # read() always sets it
        return self._logits(alpha, record.hidden, record.state.query)

    @property
    def replacement_token(self) -> int | None:
        """The unknown word, if the vocabulary holds one."""
        return UNKNOWN if self.embedding.num_embeddings > UNKNOWN else None

    def leave_out(self, record: Record) -> Tensor:
        """Return the logits without each item (B,N,C).

        States that a deletion does not change are not computed again, unless the encoder cannot
        tell which, or there are so few deletions that reading again is faster.
        """
        site = self._shared_site(record, record.content)
        if site is None:
            return leave_out_by_reading(self, record)
        return logits_without_each(site, record.logits.shape[1])

    def leave_out_some(self, record: Record, wanted: Tensor) -> Tensor | None:
        """Return the logits without each of the items wanted (B,N), NaN elsewhere: (B,N,C).

        None if reading again is faster, or the only way.
        """
        site = self._shared_site(record, wanted & record.content)
        return None if site is None else logits_without_each(site, record.logits.shape[1], wanted)

    def state_influence(self, record: Record, *, norm: int, per_facet: bool) -> Tensor | None:
        """Return the influence of each word on each state (B,N,N); None if it takes gradients."""
        assert record.hidden is not None  # read() always sets it
        if not hasattr(self.encoder, "influence") or record.embeddings.device.type != "cpu":
            return None
        matrix = record.hidden.new_zeros(*record.content.shape, record.content.shape[1])
        for index, width in groups_by_length(record.batch.mask.sum(-1)):
            matrix[index, :width, :width] = self.encoder.influence(
                record.embeddings[index, :width],
                record.batch.mask[index, :width],
                record.hidden[index, :width],
                norm,
                per_facet,
            )
        return matrix

    def attention_without(self, record: Record, drop: Tensor) -> Tensor:
        """Project the scores again without the items in drop (B,K,N): (B,K,1,N)."""
        scores = record.state.scores[:, None].expand(drop.shape)
        return self.projection(scores, record.mask & ~drop)[:, :, None]

    def self_attention(self, record: Record) -> Tensor:
        """Return the self-attention of each encoder layer (B,L,N,N)."""
        layers = getattr(self.encoder, "self_attention", None)
        if layers is None:
            raise NotApplicable(
                f"the encoder {self.architecture.encoder} has no self-attention layers"
            )
        return layers(record.embeddings, record.batch.mask)

    def _shared_site(self, record: Record, deleted: Tensor) -> SiteParts | None:
        """Return what `logits_without_each` needs; None if it does not apply to these items."""
        assert record.hidden is not None  # read() always sets it
        positional = getattr(self.scorer, "positional", False)
        if positional or not can_share(self.encoder, deleted):
            return None
        return SiteParts(
            encoder=self.encoder,
            scorer=self.scorer,
            projection=self.projection,
            output=self.output,
            vectors=record.embeddings,
            hidden=record.hidden,
            mask=record.batch.mask,
            content=record.content,
            query=record.state.query,
            scores=record.state.scores,
            readout=record.readout if self.output.is_linear else None,
        )

    def _logits(self, alpha: Tensor, hidden: Tensor, query: Tensor | None) -> Tensor:
        """Return the logits under alpha (B,1,N) or (B,K,1,N)."""
        context = alpha.squeeze(-2) if alpha.dim() == 4 else alpha
        logits = self.output(context @ hidden, query)
        return logits if alpha.dim() == 4 else logits[:, 0]
