"""Synthetic reference models for citations, whose use of sources is known by construction.

- "copier": finds the source that names who is asked about, and copies from where it attends: its
  attention is the citation;
- "first": answers in the same way, but the attention it shows is on the first source;
- "knows": gives every answer whatever the sources say, while its attention is the copier's.

They read questions such as those of `attnaudit.data.citations.simulate` with one needed source.
With words as items, the weight of a source is on the words that the answer is copied from, or on
all its words alike if it does not hold the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.data.citations import (
    BOTH,
    FIRST_SOURCE,
    REST,
    SOURCES,
    WORDS,
    CitationBatch,
    CitationExample,
)
from attnaudit.models.answer_logits import two_logits
from attnaudit.models.planted_prompts import name_matches, prompt_batch, source_items

KINDS = ("copier", "first", "knows")
_MATCHED, _REST = 10.0, 3.0  # scores of a source that names who is asked about, and of the rest
_GUESS, _KNOWN = 1e-3, 0.9  # probability of an answer that nothing supports, and of a known one


class PlantedReader:
    """A model of known truth.

    Parameters
    ----------
    kind : "copier", "first" or "knows".
    items : "sources", "words" or "both", as for `from_huggingface`.

    Examples
    --------
    >>> from attnaudit.data.citations import simulate
    >>> model = PlantedReader("copier")
    >>> (batch,) = model.batches(simulate(2, sources=3, position=1))
    >>> model.read(batch).alpha[:, 0].argmax(-1).tolist()  # the second source
    [4, 4]
    """

    class_names: Sequence[str] = ("this answer", "another answer")

    def __init__(self, kind: str, items: str = SOURCES) -> None:
        if items not in (SOURCES, WORDS, BOTH):
            raise InputError(f'items must be "{SOURCES}", "{WORDS}" or "{BOTH}", got {items!r}.')
        if kind not in KINDS:
            raise InputError(
                f"There is no planted model {kind!r}. Choose from: {', '.join(KINDS)}."
            )
        self.kind, self.items = kind, items

    @property
    def about(self) -> dict[str, Any]:
        """What it is, stored with the results."""
        about = {"model": f"planted:{self.kind}", "task": "generation", "rows": ["0.0"]}
        return about if self.items == SOURCES else {**about, "items": self.items}

    @property
    def words(self) -> PlantedReader | None:
        """The same model with words as items, if both levels are read; None otherwise."""
        return PlantedReader(self.kind, WORDS) if self.items == BOTH else None

    def word_record(self, record: Record) -> Record:
        """The same prompts read with words as items, if both levels are read."""
        assert isinstance(record.batch, CitationBatch)
        return PlantedReader(self.kind, WORDS).read(record.batch.of_words())

    def batches(self, examples: Sequence[CitationExample]) -> list[Batch]:
        """All examples as one batch."""
        return [prompt_batch(examples, self.items, with_question=True)]

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        """Attend to the source that names who is asked about."""
        assert isinstance(batch, CitationBatch)
        matches = name_matches(batch) if embeddings is None else embeddings
        item = source_items(batch)
        belongs = (item[..., None] == _count(int(item.max()) + 1, item)).double()
        named = torch.einsum("bte,btn->bn", matches.double(), belongs)
        is_source = belongs.any(1) & (_count(belongs.shape[-1], item) >= FIRST_SOURCE)
        scores = _MATCHED * named * is_source
        scores = torch.where(is_source, scores, torch.where(_is(REST, scores), _REST, -torch.inf))
        inside = scores.softmax(-1)
        shown = inside
        if self.kind == "first":
            first = is_source & (is_source.cumsum(-1) == 1)
            shown = torch.where(first, _MATCHED, scores.where(~is_source, 0.0)).softmax(-1)
        assert batch.answer is not None
        held = (batch.tokens == batch.answer[:, :1]).double()[..., None] * belongs
        supports = held.amax(1) * is_source
        if self.items == WORDS:
            shares = _shares_of_tokens(belongs, held) * is_source[:, None]
            shares[..., REST] = belongs[..., REST] / belongs[..., REST].sum(1, keepdim=True)
            inside, shown = (
                masking.to_items(
                    (shares * each[:, None]).sum(-1), batch.item_of_token, batch.item_count
                )
                for each in (inside, shown)
            )
            at_words = (held * is_source[:, None]).sum(-1)
            supports = masking.to_items(at_words, batch.item_of_token, batch.item_count)
            is_source = batch.has_source
        return Record(
            batch=batch,
            embeddings=matches,
            hidden=None,
            alpha=shown[:, None],
            mask=(is_source | _is(REST, shown))[:, None],
            content=is_source,
            item_of_token=batch.item_of_token,
            logits=self._logits(inside, supports),
            state=(inside, supports),
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        """The copier copies from where it attends; the others do not use the attention shown."""
        inside, supports = record.state
        several = alpha if alpha.dim() == 4 else alpha[:, None]
        shown = several[:, :, 0]
        used = shown + 0 * inside[:, None] if self.kind == "copier" else inside[:, None] + 0 * shown
        logits = self._logits(used, supports[:, None])
        return logits if alpha.dim() == 4 else logits[:, 0]

    def keep_only(self, record: Record, keep: Tensor) -> Tensor:
        """The logits (B,K,2) with only the sources in keep (B,K,N) in the prompt."""
        count, sets = keep.shape[:2]
        batch = record.batch.rows(torch.arange(count).repeat_interleave(sets))
        item = record.item_of_token.repeat_interleave(sets, 0).clamp_min(0)
        whole = (keep | ~record.content[:, None]).flatten(0, 1)
        shorter = batch.without(~whole.gather(1, item))
        return self.read(shorter).logits.view(count, sets, 2)

    def without_question(self, record: Record) -> Record:
        """The same sources under an empty question."""
        return self.read(prompt_batch(_examples(record), self.items, with_question=False))

    def reordered(self, record: Record, order: Tensor) -> Record:
        """The record with source order[i] (B,S) at place i."""
        if self.items == WORDS:
            raise NotApplicable("the order of sources is changed only where sources are items")
        examples = [
            example.reordered(tuple(n for n in row if n >= 0))
            for example, row in zip(_examples(record), order.tolist(), strict=True)
        ]
        return self.read(prompt_batch(examples, self.items, with_question=True))

    def rollout(self, record: Record) -> Tensor:
        """The attention itself: there is one layer."""
        return record.alpha[:, 0]

    def input_gradient(self, record: Record) -> Tensor:
        """Input × gradient of the log-probability per item (B,N)."""
        with torch.enable_grad():
            inputs = record.embeddings.detach().clone().requires_grad_()
            value = self.read(record.batch, inputs).logits.log_softmax(-1)[:, 0].sum()
            slope = torch.zeros_like(inputs)
            if value.requires_grad:
                (slope,) = torch.autograd.grad(value, inputs, allow_unused=True)
        return record.to_items((slope * inputs.detach()).sum(-1))

    def answer_attention(self, record: Record, at: int) -> tuple[list[str], Tensor]:
        """The answer as one token, and its attention (1,N)."""
        return [_examples(record)[at].answer], record.alpha[at]

    def spell(self, record: Record, at: int) -> list[str]:
        """The text of each item of example `at`."""
        sources = _examples(record)[at].sources
        words = [word for source in sources for word in source.split()]
        texts = ["first token", "", "question", *(words if self.items == WORDS else sources)]
        return texts + [""] * (record.content.shape[1] - len(texts))

    def _logits(self, alpha: Tensor, supports: Tensor) -> Tensor:
        copied = _GUESS + (1 - 2 * _GUESS) * (alpha * supports).sum(-1)
        if self.kind == "knows":
            copied = _KNOWN + 0 * copied
        return two_logits(copied.log())


def _examples(record: Record) -> tuple[CitationExample, ...]:
    assert isinstance(record.batch, CitationBatch)
    return record.batch.examples


def _is(item: int, like: Tensor) -> Tensor:
    return _count(like.shape[-1], like) == item


def _count(items: int, like: Tensor) -> Tensor:
    """0, 1, … on the device of another tensor."""
    return torch.arange(items, device=like.device)


def _shares_of_tokens(belongs: Tensor, held: Tensor) -> Tensor:
    """What each token has of the weight of its source (B,T,N): those held, or all alike."""
    counted = torch.where(held.sum(1, keepdim=True) > 0, held, belongs)
    return counted / counted.sum(1, keepdim=True).clamp_min(1)
