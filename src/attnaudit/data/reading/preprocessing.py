"""Raw texts to examples, the same way for every corpus: tokenised, cleaned, filtered, counted."""

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
from attnaudit.data.vocabulary import SPECIAL_TOKENS, document_counts

_ENDS = frozenset((".", "!", "?"))
_CLOSES = frozenset(('"', "'", "''", "”", "’", ")", "]", *_ENDS))


@dataclass(frozen=True, slots=True)
class Text:
    """One text as the corpus has it; text and query are words if the corpus is tokenised."""

    example_id: str
    where: str  # file and line, for errors
    text: str | Sequence[str]
    label: int | None = None
    query: str | Sequence[str] | None = None
    evidence: tuple[bool, ...] | None = None  # per word, if the corpus is tokenised
    evidence_spans: tuple[Span, ...] | None = None  # characters of a text that is a string
    segments: tuple[int, ...] | None = None
    candidates: tuple[int, ...] | None = None


class Preparation:
    """The options that all readers share, and the counts of what they drop.

    Parameters
    ----------
    corpus : str
        Name for messages, and of the resulting splits.
    tokeniser : str
        Name in `TOKENISERS`, or "auto".
    replace_numbers : bool
        Replace every word with a digit by "qqq".
    more_than, fewer_than : int, optional
        Strict bounds on the number of tokens, as in the released code of Jain & Wallace.
    sentences : bool
        Number the sentences, for hierarchical models.
    drop_empty : bool
        Drop texts without tokens instead of rejecting them.
    skip_bad : bool
        Skip and count rows that cannot be read: use `with prepare.bad:` around each.
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
        """Tokenise and clean texts, in their order; texts without tokens are errors or dropped."""
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
        """The examples within the bounds on length; the others are counted as dropped."""
        shortest = 0 if self.more_than is None else self.more_than + 1
        kept = []
        for example in examples:
            length = len(example.tokens)
            if length < shortest:
                self.dropped[f"{split}, short"] += 1
            elif self.fewer_than is not None and length >= self.fewer_than:
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
        """The finished corpus; its notes include what was dropped, skipped and repeated."""
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


def require_parts(place: Path, read: Iterable[str], names: Iterable[str]) -> None:
    """Reject a corpus if one of the parts in `names` was not read."""
    seen = set(read)
    missing = [name for name in names if name not in seen]
    if missing:
        raise InputError(
            f"{place}: {', '.join(missing)} is not in it, or empty. "
            "Download the whole corpus again."
        )


def sentence_numbers(tokens: Sequence[str]) -> tuple[int, ...]:
    """The sentence number of each token.

    A sentence ends after ".", "?" or "!" and the brackets and quotes that follow.

    Examples
    --------
    >>> sentence_numbers(("dull", ".", "so", "dull", "!", ")", "oh"))
    (0, 0, 1, 1, 1, 1, 2)
    """
    starts = [
        index > 0 and token not in _CLOSES and _ends_sentence(tokens, index - 1)
        for index, token in enumerate(tokens)
    ]
    return tuple(accumulate(map(int, starts)))


def _ends_sentence(tokens: Sequence[str], index: int) -> bool:
    """Whether this token ends a sentence, by itself or as a closing mark after its end."""
    while index >= 0 and tokens[index] in _CLOSES:
        if tokens[index] in _ENDS:
            return True
        index -= 1
    return False


def vocabulary_size(examples: Iterable[Example], *, min_count: int = 1) -> int:
    """Number of words in at least `min_count` texts, plus the special tokens.

    This is how the released notebooks of Jain & Wallace count, before any length filter.
    """
    counts = document_counts(examples)
    return sum(count >= min_count for count in counts.values()) + len(SPECIAL_TOKENS)


def repeated(
    train: Sequence[Example], dev: Sequence[Example], test: Sequence[Example]
) -> dict[str, int]:
    """How many examples have exactly the words of an example in another split."""

    def contents(examples: Sequence[Example]) -> list[Any]:
        return [
            example.tokens if example.query is None else (example.tokens, example.query)
            for example in examples
        ]

    in_train, in_dev = set(contents(train)), set(contents(dev))
    test_contents = contents(test)
    return {
        "dev in train": sum(content in in_train for content in contents(dev)),
        "test in train": sum(content in in_train for content in test_contents),
        "test in dev": sum(content in in_dev for content in test_contents),
    }
