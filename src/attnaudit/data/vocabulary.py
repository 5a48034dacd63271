"""Words to numbers and back. The four marks come first, so that a model can tell a word by its number alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from attnaudit.core.special_tokens import END, SPECIAL_TOKENS, START, UNKNOWN
from attnaudit.data.splits import Example


@dataclass(frozen=True)
class Vocabulary:
    """Every known word, the marks first. Padding, start and end are never attended; `<unk>` is a word like any other."""

    words: tuple[str, ...]

    @classmethod
    def build(cls, examples: Iterable[Example], *, min_count: int = 1) -> Vocabulary:
        """Words that occur in at least min_count texts, the most frequent first, ties by alphabet."""
        documents: Counter[str] = Counter()
        for example in examples:
            documents.update({*example.tokens, *(example.query or ())})
        kept = [
            word
            for word, count in documents.items()
            if count >= min_count and word not in SPECIAL_TOKENS
        ]
        kept.sort(key=lambda word: (-documents[word], word))
        return cls((*SPECIAL_TOKENS, *kept))

    @cached_property
    def index(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, tokens: Sequence[str]) -> list[int]:
        """Numbers of the words between a start and an end mark."""
        index = self.index
        # A text may contain the very characters of a mark; as a word it is an unknown one.
        return [
            START,
            *(
                UNKNOWN if token in SPECIAL_TOKENS else index.get(token, UNKNOWN)
                for token in tokens
            ),
            END,
        ]
