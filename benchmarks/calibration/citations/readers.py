"""Readers that follow a program: what they use, and where their attention is, are known.

For every question the program draws, keyed by the question's text and never by the order of its
sources: whether it knows the answer, and what its attention follows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from attnaudit.core.contract import Batch, Record
from attnaudit.core.randomness import derive
from attnaudit.data.citations import FIRST_SOURCE, REST, START, CitationExample, simulate
from attnaudit.data.citations.batch import CitationBatch, EncodedPrompt, citation_batch
from attnaudit.models.answer_logits import two_logits

ONE, EITHER, BOTH, TWO_OF_THREE = "one", "either of two", "both of two", "any two of three"
NEEDS = (ONE, EITHER, BOTH, TWO_OF_THREE)
_KNOWN, _OUTSIDE = 0.9, 0.4  # probability of a known answer; attention that is not on sources


@dataclass(frozen=True)
class Program:
    """The knobs of a reader.

    Parameters
    ----------
    name : of the model; all draws are keyed by it.
    points : share of the questions in which attention is on a source that is used.
    place : share in which it is on the source at one place, whatever it says. In the remaining
        questions it is on a source that is not used, wherever that stands.
    at : the place, counted from 0, or -1 for the last.
    knows : share of the answers that it gives whatever the sources say.
    needs : which of the sources with the fact it has to see.
    sources : how many a question has.
    guess, read : probability per token of an answer that nothing supports, and of one it reads.
    peak : share of the attention on sources that the top one has.
    noise : standard deviation of the log-probability, drawn again for every set of sources.
    """

    name: str
    points: float
    place: float
    at: int = 0
    knows: float = 0.0
    needs: str = ONE
    sources: int = 5
    guess: float = 0.001
    read: float = 0.95
    peak: float = 0.6
    noise: float = 0.0

    def draw(self, *key: str) -> float:
        """A number from 0 to 1 that depends on the name and the key only."""
        return derive(0, self.name, *key) % 2**52 / 2**52


class ProgramReader:
    """A model that follows a program; what `cite` needs of a model."""

    class_names: Sequence[str] = ("this answer", "another answer")

    def __init__(self, program: Program) -> None:
        self.program = program

    @property
    def about(self) -> dict[str, Any]:
        """What it is, stored with the results."""
        return {"model": self.program.name, "task": "generation", "rows": ["0.0"]}

    def batches(self, examples: Sequence[CitationExample]) -> list[Batch]:
        """All examples as one batch, a token per source."""
        return [_batch(examples)]

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        """The attention it shows, and how likely it finds the answers."""
        assert isinstance(batch, CitationBatch)
        alpha = torch.zeros(len(batch), 1, batch.item_count, dtype=torch.float64)
        values = []
        for index, example in enumerate(batch.examples):
            alpha[index, 0] = torch.tensor(self._attention(example, batch.item_count))
            values.append(self._log_prob(example, range(len(example.sources))))
        item = batch.item_of_token
        return Record(
            batch=batch,
            embeddings=torch.zeros(*item.shape, 1, dtype=torch.float64),
            hidden=None,
            alpha=alpha,
            mask=(alpha > 0) | batch.has_source[:, None],
            content=batch.has_source,
            item_of_token=item,
            logits=two_logits(torch.tensor(values, dtype=torch.float64)),
        )

    def keep_only(self, record: Record, keep: Tensor) -> Tensor:
        """The logits (B,K,2) with only the sources in keep (B,K,N) in the prompt."""
        assert isinstance(record.batch, CitationBatch)
        values = torch.empty(keep.shape[:2], dtype=torch.float64)
        for index, example in enumerate(record.batch.examples):
            for which, kept in enumerate(keep[index, :, FIRST_SOURCE:].tolist()):
                held = [n for n in range(len(example.sources)) if kept[n]]
                values[index, which] = self._log_prob(example, held)
        return two_logits(values)

    def reordered(self, record: Record, order: Tensor) -> Record:
        """The record with source order[i] (B,S) at place i."""
        assert isinstance(record.batch, CitationBatch)
        rows = zip(record.batch.examples, order.tolist(), strict=True)
        return self.read(_batch([each.reordered(tuple(row)) for each, row in rows]))

    def cited(self, example: CitationExample) -> int:
        """The source that its attention is on."""
        program, count = self.program, len(example.sources)
        assert example.gold is not None
        what = program.draw("follows", example.question)
        if program.points <= what < program.points + program.place:
            return program.at % count
        used = what < program.points
        candidates = [n for n in range(count) if (n in example.gold) == used]
        return min(candidates, key=lambda n: program.draw("chosen", example.sources[n]))

    def _attention(self, example: CitationExample, items: int) -> list[float]:
        cited, count = self.cited(example), len(example.sources)
        weights = [0.0] * items
        weights[START], weights[REST] = _OUTSIDE / 2, _OUTSIDE / 2
        # The others share the rest unevenly, and none has as much as the cited one.
        shares = [1.0 + program_draw(self.program, example, n) for n in range(count)]
        left = sum(share for n, share in enumerate(shares) if n != cited)
        for n, share in enumerate(shares):
            part = self.program.peak if n == cited else (1 - self.program.peak) * share / left
            weights[FIRST_SOURCE + n] = (1 - _OUTSIDE) * part
        return weights

    def _log_prob(self, example: CitationExample, held: Sequence[int] | range) -> float:
        program = self.program
        if program.draw("knows", example.question) < program.knows:
            likely = _KNOWN
        else:
            likely = program.read if _supported(program.needs, example, held) else program.guess
        texts = sorted(example.sources[n] for n in held)
        ends = [program.draw(end, example.question, *texts) for end in ("radius", "angle")]
        normal = math.sqrt(-2 * math.log(1 - ends[0])) * math.cos(2 * math.pi * ends[1])
        return min(math.log(likely) + program.noise * normal, math.log(0.999))


def program_draw(program: Program, example: CitationExample, source: int) -> float:
    """A number from 0 to 1 per source, the same wherever it stands."""
    return program.draw("share", example.sources[source])


def questions(program: Program, count: int, seed: int) -> list[CitationExample]:
    """Questions with as many copies of the fact as the program has to choose from."""
    if program.needs == BOTH:
        return simulate(count, sources=program.sources, needed=2, seed=seed)
    copies = {ONE: 1, EITHER: 2, TWO_OF_THREE: 3}[program.needs]
    made = simulate(count, sources=program.sources - copies + 1, seed=seed)
    return [_with_copies(example, copies - 1) for example in made]


def _with_copies(example: CitationExample, more: int) -> CitationExample:
    assert example.gold is not None
    (gold,) = example.gold
    copies = tuple(f"Report {n + 1}: {example.sources[gold]}" for n in range(more))
    last = len(example.sources)
    joined = replace(
        example, sources=(*example.sources, *copies), gold=(gold, *range(last, last + more))
    )
    order = sorted(range(last + more), key=lambda n: derive(0, "order", joined.sources[n]))
    return joined.reordered(tuple(order))


def _supported(needs: str, example: CitationExample, held: Sequence[int] | range) -> bool:
    assert example.gold is not None
    seen = sum(n in held for n in example.gold)
    return seen >= {ONE: 1, EITHER: 1, BOTH: 2, TWO_OF_THREE: 2}[needs]


def _batch(examples: Sequence[CitationExample]) -> CitationBatch:
    encoded = []
    for example in examples:
        count = len(example.sources)
        encoded.append(
            EncodedPrompt(
                ids=[1, *range(2, count + 3)],
                items=[START, *range(FIRST_SOURCE, FIRST_SOURCE + count), REST],
                sources=[-1, *range(count), -1],
                answer=[1],
                target=[True],
            )
        )
    return citation_batch(examples, encoded)
