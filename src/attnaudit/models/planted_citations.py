"""Synthetic reference models for citations, whose use of sources is known by construction.

- "copier": finds the source that names who is asked about, and copies from where it attends: its
  attention is the citation;
- "first": answers in the same way, but the attention it shows is on the first source;
- "knows": gives every answer whatever the sources say, while its attention is the copier's.

They read questions such as those of `attnaudit.data.citations.simulate` with one needed source.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import InputError
from attnaudit.core.randomness import derive
from attnaudit.data.citations import FIRST_SOURCE, REST, START, CitationBatch, CitationExample
from attnaudit.data.citations.batch import EncodedPrompt, citation_batch
from attnaudit.models.answer_logits import two_logits

KINDS = ("copier", "first", "knows")
_MATCHED, _REST = 10.0, 3.0  # scores of a source that names who is asked about, and of the rest
_GUESS, _KNOWN = 1e-3, 0.9  # probability of an answer that nothing supports, and of a known one


class PlantedReader:
    """A model of known truth.

    Parameters
    ----------
    kind : "copier", "first" or "knows".

    Examples
    --------
    >>> from attnaudit.data.citations import simulate
    >>> model = PlantedReader("copier")
    >>> (batch,) = model.batches(simulate(2, sources=3, position=1))
    >>> model.read(batch).alpha[:, 0].argmax(-1).tolist()  # the second source
    [4, 4]
    """

    class_names: Sequence[str] = ("this answer", "another answer")

    def __init__(self, kind: str) -> None:
        if kind not in KINDS:
            raise InputError(
                f"There is no planted model {kind!r}. Choose from: {', '.join(KINDS)}."
            )
        self.kind = kind

    @property
    def about(self) -> dict[str, Any]:
        """What it is, stored with the results."""
        return {"model": f"planted:{self.kind}", "task": "generation", "rows": ["0.0"]}

    def batches(self, examples: Sequence[CitationExample]) -> list[Batch]:
        """All examples as one batch."""
        return [_batch(examples, with_question=True)]

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        """Attend to the source that names who is asked about."""
        assert isinstance(batch, CitationBatch)
        matches = _matches(batch) if embeddings is None else embeddings
        item = batch.item_of_token
        belongs = (item[..., None] == torch.arange(batch.item_count)).double()
        named = torch.einsum("bte,btn->bn", matches.double(), belongs)
        is_source = batch.has_source
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
        return Record(
            batch=batch,
            embeddings=matches,
            hidden=None,
            alpha=shown[:, None],
            mask=(is_source | _is(REST, scores))[:, None],
            content=is_source,
            item_of_token=item,
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
        return self.read(_batch(_examples(record), with_question=False))

    def reordered(self, record: Record, order: Tensor) -> Record:
        """The record with source order[i] (B,S) at place i."""
        examples = [
            example.reordered(tuple(n for n in row if n >= 0))
            for example, row in zip(_examples(record), order.tolist(), strict=True)
        ]
        return self.read(_batch(examples, with_question=True))

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
        texts = ["first token", "", "question", *_examples(record)[at].sources]
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
    return torch.arange(like.shape[-1]) == item


def _words(text: str) -> list[str]:
    return [word.strip(".,?!") for word in text.split()]


@cache
def _number(word: str) -> int:
    """The token of a word: the same in every batch."""
    return 1 + derive(0, "planted word", word) % (2**40)


def _batch(examples: Sequence[CitationExample], *, with_question: bool) -> CitationBatch:
    encoded = []
    for example in examples:
        parts = [(START, [""])]
        parts += [(FIRST_SOURCE + n, _words(text)) for n, text in enumerate(example.sources)]
        parts.append((REST, ["?", *(_words(example.question) if with_question else [])]))
        items = [item for item, words in parts for _ in words]
        encoded.append(
            EncodedPrompt(
                ids=[_number(word) for _, words in parts for word in words],
                items=items,
                sources=[max(item - FIRST_SOURCE, -1) for item in items],
                answer=[_number(_words(example.answer)[-1])],
                target=[True],
            )
        )
    return citation_batch(examples, encoded)


def _matches(batch: CitationBatch) -> Tensor:
    """1 for each token that is a name in the question (B,T,1): words that few sources share."""
    item = batch.item_of_token
    asked = item == REST
    matches = torch.zeros(*batch.tokens.shape, 1, dtype=torch.float64)
    for index in range(len(batch)):
        wanted = {_number(word) for word in _names(batch.examples[index].question)}
        present = set(batch.tokens[index][asked[index]].tolist())
        for place, token in enumerate(batch.tokens[index].tolist()):
            if token in wanted & present and int(item[index, place]) >= FIRST_SOURCE:
                matches[index, place] = 1.0
    return matches


def _names(question: str) -> list[str]:
    return [word for word in _words(question)[1:] if word[:1].isupper()]
