"""Hierarchical attention: over the words of each sentence, then over sentences (Yang et al. 2016).

There are two sites. `sentence` has one row, over the sentences, and an exact readout. `word` has
one row per sentence, over its words; the sentence encoder and the sentence attention are computed
again for alternative word attention.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from attnaudit.core.contract import Batch, Record
from attnaudit.core.item_deletion import leave_out_by_reading
from attnaudit.core.option_limits import OneOf, limits
from attnaudit.core.special_tokens import PAD, UNKNOWN
from attnaudit.models.architecture import (
    Architecture,
    make_encoder,
    make_output,
    make_projection,
    make_scorer,
    query_vector,
)
from attnaudit.models.incremental_deletion import can_share, logits_without_each
from attnaudit.models.sentence_layout import SentenceLayout, sentence_layout
from attnaudit.models.site_parts import SiteParts

SITES = ("sentence", "word")


@dataclass(frozen=True)
class _State:
    """What `decode` starts from."""

    word_hidden: Tensor  # (B,T,H)
    vectors: Tensor  # (B,S,H), of the sentences before the sentence encoder
    sentence_hidden: Tensor  # (B,S,H')
    sentences: Tensor  # (B,S) bool
    query: Tensor | None


@limits(site=OneOf(SITES))
class Hierarchical(nn.Module):
    """HAN, with the same kinds of encoder, scorer and projection at both levels.

    Serrano & Smith (2019) use bigru:hidden=50.
    """

    def __init__(
        self,
        architecture: Architecture,
        *,
        words: int,
        classes: int,
        with_query: bool,
        site: str = "sentence",
    ) -> None:
        super().__init__()
        self.architecture, self.site = architecture, site
        self.embedding = nn.Embedding(words, architecture.embedding, padding_idx=PAD)
        self.word_encoder = make_encoder(architecture, architecture.embedding)
        size = self.word_encoder.size
        self.query_encoder = (
            make_encoder(architecture, architecture.embedding) if with_query else None
        )
        query_size = size if with_query else None
        self.sentence_encoder = make_encoder(architecture, size)
        top = self.sentence_encoder.size
        self.scorer = nn.ModuleDict(
            {
                "word": make_scorer(architecture, size, query_size),
                "sentence": make_scorer(architecture, top, query_size),
            }
        )
        self.projection = make_projection(architecture)
        self.output = make_output(architecture, top, query_size, classes)

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        """Run the model on a batch; `embeddings` (B,T,E) replace its own."""
        if embeddings is None:
            embeddings = self.embedding(batch.tokens)
        layout = sentence_layout(batch)
        query = query_vector(self.query_encoder, self.embedding, batch)
        word_hidden, word_alpha = self._words(embeddings, layout, query)
        sentences = layout.rows.any(-1)
        vectors = word_alpha @ word_hidden
        sentence_hidden, sentence_alpha = self._sentences(vectors, sentences, query)
        logits = self.output(sentence_alpha @ sentence_hidden, query)[:, 0]
        by_word = self.site == "word"
        place = torch.arange(batch.tokens.shape[1], device=batch.tokens.device).expand_as(
            batch.tokens
        )
        readout = (
            None if by_word or not self.output.is_linear else self.output(sentence_hidden, query)
        )
        return Record(
            batch=batch,
            embeddings=embeddings,
            hidden=word_hidden if by_word else sentence_hidden,
            alpha=word_alpha if by_word else sentence_alpha,
            mask=layout.rows if by_word else sentences[:, None],
            content=layout.sentence >= 0 if by_word else sentences,
            item_of_token=place.where(layout.sentence >= 0, -1) if by_word else layout.sentence,
            logits=logits,
            readout=readout,
            state=_State(word_hidden, vectors, sentence_hidden, sentences, query),
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        """Return the logits under other attention: (B,R,N) -> (B,C), (B,K,R,N) -> (B,K,C)."""
        if alpha.dim() == 4:  # K alternatives are decoded as K times as many examples
            count = alpha.shape[1]
            return self._decode(record.state, alpha.flatten(0, 1), count).view(
                len(alpha), count, -1
            )
        return self._decode(record.state, alpha, 1)

    def row_names(self, record: Record) -> list[str]:
        """Name the rows: one per sentence, from 0, at the word site; one at the sentence site."""
        if self.site == "sentence":
            return ["sentence attention"]
        return [f"sentence {number}" for number in range(record.alpha.shape[1])]

    @property
    def replacement_token(self) -> int | None:
        """The unknown word, if the vocabulary holds one."""
        return UNKNOWN if self.embedding.num_embeddings > UNKNOWN else None

    def leave_out(self, record: Record) -> Tensor:
        """Return the logits without each item (B,N,C).

        Without a sentence, the vectors of the others are not computed again. At the word site, and
        where sharing does not pay, the texts are read again.
        """
        positional = getattr(self.scorer["sentence"], "positional", False)
        if (
            positional
            or self.site == "word"
            or not can_share(self.sentence_encoder, record.content)
        ):
            return leave_out_by_reading(self, record)
        site = SiteParts(
            encoder=self.sentence_encoder,
            scorer=self.scorer["sentence"],
            projection=self.projection,
            output=self.output,
            vectors=record.state.vectors,
            hidden=record.state.sentence_hidden,
            mask=record.state.sentences,
            content=record.content,
            query=record.state.query,
            scores=self.scorer["sentence"](record.state.sentence_hidden, record.state.query),
            readout=record.readout if self.output.is_linear else None,
        )
        return logits_without_each(site, record.logits.shape[1])

    def attention_without(self, record: Record, drop: Tensor) -> Tensor:
        """Project the scores of each row again without the items in drop (B,K,N): (B,K,R,N)."""
        assert record.hidden is not None  # read() always sets it
        kept = record.mask[:, None] & ~drop[:, :, None]
        scores = self.scorer[self.site](record.hidden, record.state.query)
        return self.projection(scores[:, None, None].expand(kept.shape), kept)

    def _decode(self, state: _State, alpha: Tensor, count: int) -> Tensor:
        """Return the logits (B·count,C) under alpha (B·count,R,N)."""

        def repeat(values: Tensor) -> Tensor:
            return values.repeat_interleave(count, 0)

        query = None if state.query is None else repeat(state.query)
        hidden = repeat(state.sentence_hidden)
        if self.site == "word":
            vectors = alpha @ repeat(state.word_hidden)
            hidden, alpha = self._sentences(vectors, repeat(state.sentences), query)
        return self.output(alpha @ hidden, query)[:, 0]

    def _words(
        self, embeddings: Tensor, layout: SentenceLayout, query: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Return the word states (B,T,H) and the attention of each sentence over them (B,S,T)."""
        hidden = layout.by_group(embeddings, self.word_encoder)
        # Scored from the recorded states, so that the attention depends on them.
        scores = self.scorer["word"](hidden, query)[..., None]
        weights = layout.by_group(
            scores, lambda cut, words: self.projection(cut[..., 0], words)[..., None]
        )
        return hidden, weights[:, None, :, 0] * layout.rows

    def _sentences(
        self, vectors: Tensor, sentences: Tensor, query: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Return the sentence states (B,S,H') and the attention over them (B,1,S)."""
        hidden = self.sentence_encoder(vectors, sentences)
        return hidden, self.projection(self.scorer["sentence"](hidden, query), sentences)[:, None]
