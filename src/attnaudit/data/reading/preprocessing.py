"""Raw texts to examples, the same way for every corpus: tokenised, cleaned, filtered by length, and everything dropped counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.core.progress import counter
from attnaudit.data.reading.options import whole_number, yes_or_no
from attnaudit.data.reading.rows import BadRows
from attnaudit.data.reading.tokenise import Cleaner, Span, find_tokeniser
from attnaudit.data.splits import Example, Splits

_ENDS = frozenset((".", "!", "?"))
_CLOSES = frozenset(('"', "'", "''", "”", "’", ")", "]", *_ENDS))


@dataclass(frozen=True, slots=True)
class Text:
    """One text as the corpus has it. `text` and `query` are strings, or words where the corpus comes tokenised."""

    example_id: str
    where: str  # file and line, for errors
    text: str | Sequence[str]
    label: int | None = None
    query: str | Sequence[str] | None = None
    evidence: tuple[bool, ...] | None = None  # of the words, where the corpus comes tokenised
    evidence_spans: tuple[Span, ...] | None = None  # characters of a text that is a string
    segments: tuple[int, ...] | None = None
    candidates: tuple[int, ...] | None = None


class Preparation:
    """The common options of readers, checked, and the counts of what they drop.

    more_than and fewer_than bound the number of tokens (strictly, as in the released code); None is no bound.
    `with prepare.bad:` around the reading of one row turns skip_bad into a counted skip.
    """

    def __init__(
        self,
        corpus: str,
        *,
        tokeniser: str = "auto",
        replace_numbers: bool = True,
        more_than: int | None = None,
        fewer_than: int | None = None,
        sentences: bool = False,
        drop_empty: bool = False,
        skip_bad: bool = False,
    ) -> None:
        for name, value in {"more_than": more_than, "fewer_than": fewer_than}.items():
            if value is not None:
                whole_number(corpus, name, value, least=0)
        flags = {"replace_numbers": replace_numbers, "sentences": sentences, "skip_bad": skip_bad}
        for name, flag in flags.items():
            yes_or_no(corpus, name, flag)
        self.corpus = corpus
        self.tokeniser = find_tokeniser(tokeniser)
        self.cleaner = Cleaner(replace_numbers=replace_numbers)
        self.more_than, self.fewer_than = more_than, fewer_than
        self.sentences, self.drop_empty = sentences, drop_empty
        self.bad = BadRows(skip=skip_bad)
        self.dropped: Counter[str] = Counter()

    def examples(self, texts: Iterable[Text]) -> tuple[Example, ...]:
        """Every text with at least one token, by example id where the files come in no order of their own."""
        return tuple(self._examples(texts))

    def _examples(self, texts: Iterable[Text]) -> Iterator[Example]:
        with counter(f"Reading {self.corpus}") as advance:
            for text in texts:
                advance()
                with self.bad:
                    tokens = self._tokens(text.text)
                    query = None if text.query is None else self._tokens(text.query)
                    if not tokens or query == ():
                        if self.drop_empty:
                            self.dropped["empty"] += 1
                            continue
                        raise InputError(
                            f"{text.where}: the {'query' if tokens else 'text'} is empty."
                        )
                    yield Example(
                        text.example_id,
                        tokens,
                        label=text.label,
                        query=query,
                        evidence=self._evidence(text),
                        segments=sentence_numbers(tokens)
                        if self.sentences and text.segments is None
                        else text.segments,
                        candidates=text.candidates,
                    )

    def within_length(self, examples: Iterable[Example], split: str) -> tuple[Example, ...]:
        """Those inside the bounds; the others are counted."""
        least = 0 if self.more_than is None else self.more_than + 1
        kept = []
        for example in examples:
            count = len(example.tokens)
            if count < least:
                self.dropped[f"{split}, short"] += 1
            elif self.fewer_than is not None and count >= self.fewer_than:
                self.dropped[f"{split}, long"] += 1
            else:
                kept.append(example)
        return tuple(kept)

    def finish(
        self,
        *,
        train: Sequence[Example],
        dev: Sequence[Example],
        test: Sequence[Example],
        classes: tuple[str, ...],
        min_count: int = 1,
        name: str | None = None,
        **notes: Any,
    ) -> Splits:
        """The corpus, with what was dropped, skipped and met in two splits among its notes."""
        if not (train or dev or test):
            counts = {**self.dropped, **({"bad rows": self.bad.count} if self.bad.count else {})}
            raise InputError(
                f"{self.corpus}: no example is left; dropped: "
                f"{', '.join(f'{count:,} ({why})' for why, count in counts.items()) or 'none'}. "
                "Check the files, and the bounds on the length."
            )
        return Splits(
            name=name or self.corpus,
            train=train,
            dev=dev,
            test=test,
            classes=classes,
            tokeniser=self.tokeniser.name,
            min_count=min_count,
            notes={
                **notes,
                "dropped": dict(self.dropped),
                "skipped": self.bad.note(),
                "repeated": repeated(train, dev, test),
            },
        )

    def _tokens(self, text: str | Sequence[str]) -> tuple[str, ...]:
        return self.cleaner.clean(
            self.tokeniser.split(text) if isinstance(text, str) else list(text)
        )

    def _evidence(self, text: Text) -> tuple[bool, ...] | None:
        if text.evidence_spans is None or not isinstance(text.text, str):
            return text.evidence
        spans = text.evidence_spans
        return tuple(
            any(max(start, first) < min(end, last) for first, last in spans)
            for start, end in self.tokeniser.spans(text.text)
        )


def require(place: Path, read: Iterable[str], names: Iterable[str]) -> None:
    """Every part of the corpus must have been met."""
    met = set(read)
    missing = [name for name in names if name not in met]
    if missing:
        raise InputError(
            f"{place}: {', '.join(missing)} is not in it, or empty. Take the corpus anew, whole."
        )


def sentence_numbers(tokens: Sequence[str]) -> tuple[int, ...]:
    """The sentence of each token: one ends after full stops, question and exclamation marks and the brackets and quotes that close it."""
    begins = [
        at > 0
        and token not in _CLOSES
        and (tokens[at - 1] in _ENDS or (tokens[at - 1] in _CLOSES and _closed(tokens, at - 1)))
        for at, token in enumerate(tokens)
    ]
    return tuple(accumulate(map(int, begins)))


def _closed(tokens: Sequence[str], at: int) -> bool:
    """Do the closing marks up to here follow an end of sentence?"""
    while at >= 0 and tokens[at] in _CLOSES:
        if tokens[at] in _ENDS:
            return True
        at -= 1
    return False


def vocabulary_size(examples: Iterable[Example], *, min_count: int = 1) -> int:
    """Words in at least min_count texts, and the four marks: as the released notebooks count, before any length filter."""
    documents: Counter[str] = Counter()
    for example in examples:
        documents.update({*example.tokens, *(example.query or ())})
    return sum(count >= min_count for count in documents.values()) + 4


def repeated(
    train: Sequence[Example], dev: Sequence[Example], test: Sequence[Example]
) -> dict[str, int]:
    """How many dev and test examples have the very words of a training example, and test of a dev one: the same text, met before."""

    def contents(examples: Sequence[Example]) -> list[Any]:
        return [
            each.tokens if each.query is None else (each.tokens, each.query) for each in examples
        ]

    in_train, in_dev = set(contents(train)), set(contents(dev))
    asked = contents(test)
    return {
        "dev in train": sum(each in in_train for each in contents(dev)),
        "test in train": sum(each in in_train for each in asked),
        "test in dev": sum(each in in_dev for each in asked),
    }
