"""A language model that answers questions from sources, with `read` and `decode`.

Rows are layers × heads, averaged over the answer's tokens; items are the sources, or their
words. For both levels, items are the sources, and `words` is the same model with words as items:
one pass gives the records of both.

There are two classes, "this answer" and "another": their logits are ln p and ln(1 - p), where ln p
is the mean log-probability of the answer's tokens, so that log_softmax(logits)[:, 0] is ln p again.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.data.citations import BOTH, FIRST_SOURCE, WORDS, CitationBatch, CitationExample
from attnaudit.data.citations.batch import citation_batch
from attnaudit.models.answer_logits import two_logits
from attnaudit.models.huggingface.generation import answer_passes
from attnaudit.models.huggingface.generation.answer_passes import TOKENS_AT_ONCE, in_groups
from attnaudit.models.huggingface.generation.answer_reading import decode_answers, read_answers
from attnaudit.models.huggingface.generation.answers import with_answers
from attnaudit.models.huggingface.generation.input_gradient import input_gradient
from attnaudit.models.huggingface.generation.many_prompts import kept_log_probs
from attnaudit.models.huggingface.generation.prompt import Prompt
from attnaudit.models.huggingface.generation.prompt_batches import required
from attnaudit.models.huggingface.generation.spans import mean_of_span, one_hot

ANSWERS = ("this answer", "another answer")
_NO_QUESTION, _GRADIENT, _ROLLOUT = "without question", "input gradient", "rollout"  # passes


class GenerationModel:
    """A model wrapped by `from_huggingface(…, task="generation")`; unchanged after every call."""

    class_names: Sequence[str] = ANSWERS

    def __init__(
        self,
        model: Any,
        prompt: Prompt,
        *,
        kinds: dict[int, str],
        rows: Sequence[tuple[int, int]],
        layer_count: int,
        embedding: Any,
        decoder_start: int | None,
        max_length: int | None,
    ) -> None:
        self.model, self.prompt, self.kinds, self.embedding = model, prompt, kinds, embedding
        self.tokenizer = prompt.tokenizer
        self.row_numbers = tuple(rows)  # (layer, head) of each row
        self.layer_count, self.head_count = layer_count, 1
        self.shares_prefixes = False  # whether prompts that begin alike can be run together
        self.decoder_start, self.max_length = decoder_start, max_length

    @property
    def about(self) -> dict[str, Any]:
        """The choices made and found, stored with the results."""
        return {
            "model": type(self.model).__name__,
            "task": "generation",
            "layers": sorted({layer for layer, _ in self.row_numbers}),
            "heads": sorted({head for _, head in self.row_numbers}),
            "rows": [f"{layer}.{head}" for layer, head in self.row_numbers],
            "instruction": self.prompt.instruction,
            "chat": self.prompt.uses_chat,
            "items": self.prompt.items,
            "max_length": self.max_length,
            "dtype": str(self.model.dtype).removeprefix("torch."),
        }

    @property
    def words(self) -> GenerationModel | None:
        """The same model with words as items, if both levels are read; None otherwise."""
        if self.prompt.items != BOTH:
            return None
        other = copy(self)
        other.prompt = replace(self.prompt, items=WORDS)
        return other

    def word_record(self, record: Record) -> Record:
        """The record of the same pass for the model `words`, if both levels are read."""
        words = record.state.words
        assert isinstance(words, Record)
        return words

    def row_names(self, record: Record) -> list[str]:
        """Name each row by layer and head, counted from 0."""
        kind = "layer" if self.decoder_start is None else "cross-attention layer"
        return [f"{kind} {layer} head {head}" for layer, head in self.row_numbers]

    def batches(
        self, examples: Sequence[CitationExample], *, with_question: bool = True
    ) -> list[CitationBatch]:
        """Batches of questions of similar length, on the model's device; the longest first."""
        encoded = [self.prompt.encode(each, with_question=with_question) for each in examples]
        for example, each in zip(examples, encoded, strict=True):
            if not each.answer:
                raise InputError(
                    f"{example.where or example.example_id}: the answer is empty. Give one, or "
                    "have it generated: attnaudit.cite does."
                )
            size = len(each.ids) + (0 if self.decoder_start is not None else len(each.answer))
            if self.max_length is not None and size > self.max_length:
                raise InputError(
                    f"{example.where or example.example_id}: sources, question and answer have "
                    f"{size:,} tokens, but the model reads at most {self.max_length:,}. Give it "
                    "fewer or shorter sources."
                )
        sizes = [len(each.ids) + len(each.answer) for each in encoded]
        return [
            citation_batch([examples[i] for i in part], [encoded[i] for i in part]).to(
                self.model.device
            )  # type: ignore[misc]
            for part in in_groups(sizes, TOKENS_AT_ONCE)
        ]

    def with_answers(
        self, examples: Sequence[CitationExample], *, max_new_tokens: int, show_progress: bool
    ) -> list[CitationExample]:
        """The examples, those without an answer with the model's own."""
        return with_answers(
            self, examples, max_new_tokens=max_new_tokens, show_progress=show_progress
        )

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        """Run the model on a batch; `embeddings` (B,T,E) replace the prompt's own."""
        return read_answers(self, _citations(batch), embeddings)

    def rollout(self, record: Record) -> Tensor:
        """Attention traced down to the sources (B,N), averaged over the answer's tokens."""
        rollout = record.state.passes.get(_ROLLOUT)
        if rollout is None:
            again = read_answers(self, _citations(record.batch), with_rollout=True).state
            rollout = again.rollout
            if again.words is not None:
                record.state.leave_for_words(_ROLLOUT, again.words.state.rollout)
        assert isinstance(rollout, Tensor)
        return rollout

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        """The logits under other attention: (B,R,N) -> (B,2), (B,K,R,N) -> (B,K,2).

        At every token that predicts the answer, the weights of an item's tokens are scaled by the
        ratio of the item's new weight to its old one, and made to sum to 1 again.
        """
        if alpha.shape[-2:] != record.alpha.shape[1:] or len(alpha) != len(record.alpha):
            raise InputError(
                "alpha must have shape (B,R,N) or (B,K,R,N) with the record's (B,R,N) = "
                f"{tuple(record.alpha.shape)}, got {tuple(alpha.shape)}."
            )
        alternatives = alpha if alpha.dim() == 4 else alpha[:, None]
        batch = _citations(record.batch)
        logits = [decode_answers(self, record, batch, each) for each in alternatives.unbind(1)]
        return torch.stack(logits, 1) if alpha.dim() == 4 else logits[0]

    def keep_only(self, record: Record, keep: Tensor) -> Tensor:
        """The logits (B,K,2) with only the sources in keep (B,K,N) in the prompt.

        Each set of tokens is run once per record, and once for both levels.
        """
        sets = (keep & record.content[:, None])[..., FIRST_SOURCE:].cpu().tolist()
        found = kept_log_probs(self, _citations(record.batch), sets, record.state.known)
        values = torch.tensor(found, dtype=record.logits.dtype, device=record.logits.device)
        return two_logits(values.view(keep.shape[:2]))

    def leave_out(self, record: Record) -> Tensor:
        """The logits without each source (B,N,2); NaN for other items and for an only source."""
        sources = record.content
        without = sources[:, None] & ~torch.eye(
            sources.shape[1], dtype=torch.bool, device=sources.device
        )
        wanted = sources & (record.length > 1)[:, None]
        return self.keep_only(record, without).masked_fill(~wanted[..., None], torch.nan)

    def without_question(self, record: Record) -> Record:
        """The same sources and answer read under an empty question."""
        known = record.state.passes.get(_NO_QUESTION)
        if known is not None:
            assert isinstance(known, Record)
            return known
        again = self.read(self._again(record, list(_citations(record.batch).examples), False))
        record.state.leave_for_words(_NO_QUESTION, again.state.words)
        return again

    def reordered(self, record: Record, order: Tensor) -> Record:
        """The record with source order[i] (B,S) at place i; -1 after the last source."""
        if self.prompt.items == WORDS:
            raise NotApplicable("the order of sources is changed only where sources are items")
        examples = [
            example.reordered(tuple(n for n in row if n >= 0))
            for example, row in zip(_citations(record.batch).examples, order.tolist(), strict=True)
        ]
        return self.read(replace(self._again(record, examples, True), words=None))

    def log_probs(self, batch: CitationBatch, embeddings: Tensor | None = None) -> Tensor:
        """Mean log-probability of the span asked about (B,), by the model's own attention."""
        sequences = answer_passes.sequences_of(batch, self.decoder_start)
        embedding = None if embeddings is None else self.embedding
        found, _ = answer_passes.token_log_probs(
            self.model, batch, sequences, embedding=embedding, embeddings=embeddings
        )
        return mean_of_span(found, batch)

    def input_gradient(self, record: Record) -> Tensor:
        """Input × gradient of the mean log-probability, summed over each item (B,N), signed.

        Of long prompts, the layers are run again for their gradients, to bound the memory.
        """
        batch = _citations(record.batch)
        per_token = record.state.passes.get(_GRADIENT)
        if per_token is None:
            per_token = input_gradient(
                self.model, batch, self.embedding, record.embeddings, self.decoder_start
            )
            record.state.leave_for_words(_GRADIENT, per_token)
        item = answer_passes.sequences_of(batch, self.decoder_start).item
        belongs = one_hot(item, record.content.shape[1])
        return (per_token[:, None].to(belongs) @ belongs)[:, 0]

    def answer_attention(self, record: Record, at: int) -> tuple[list[str], Tensor]:
        """The answer's A tokens as text, and the attention (A,N) that each was predicted with."""
        batch = _citations(record.batch)
        size = int(required(batch.answer_mask)[at].sum())
        tokens = required(batch.answer)[at, :size].tolist()
        texts = [self.tokenizer.decode([token]) for token in tokens]
        return texts, record.state.masses[at].detach().mean(0)[:size]

    def spell(self, record: Record, at: int) -> list[str]:
        """The text of each item of example `at`."""
        batch = _citations(record.batch)
        names = ["first token", "special tokens", "question and answer"]
        texts = [*names, *self.prompt.spell(batch.examples[at])]
        return texts + [""] * (record.content.shape[1] - len(texts))

    def _again(
        self, record: Record, examples: Sequence[CitationExample], with_question: bool
    ) -> CitationBatch:
        encoded = [self.prompt.encode(each, with_question=with_question) for each in examples]
        return citation_batch(examples, encoded).to(record.alpha.device)  # type: ignore[return-value]


def _citations(batch: Batch) -> CitationBatch:
    if not isinstance(batch, CitationBatch):
        raise InputError(
            "A model with task='generation' reads questions with sources: make its batches with "
            "model.batches(examples), or call attnaudit.cite."
        )
    return batch
