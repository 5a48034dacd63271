"""Words to numbers and back; the four special tokens come first and have fixed numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from attnaudit.core.special_tokens import END, SPECIAL_TOKENS, START, UNKNOWN
from attnaudit.data.splits import Example


def document_counts(examples: Iterable[Example]) -> Counter[str]:
    """Number of texts (with their queries) that each word occurs in."""
    counts: Counter[str] = Counter()
    for example in examples:
        counts.update({*example.tokens, *(example.query or ())})
    return counts


@dataclass(frozen=True)
class Vocabulary:
    """Every known word, special tokens first.

    Padding, start and end are never attended; `<unk>` is a word like any other.

    Parameters
    ----------
    words : tuple of str
        Words in the order of their numbers.

    Examples
    --------
    >>> vocabulary = Vocabulary.build([Example("train/0", ("so", "dull", "so"))])
    >>> vocabulary.words
    ('<pad>', '<start>', '<end>', '<unk>', 'dull', 'so')
    >>> vocabulary.encode(("so", "great"))
    [1, 5, 3, 2]
    """

    words: tuple[str, ...]

    @classmethod
    def build(cls, examples: Iterable[Example], *, min_count: int = 1) -> Vocabulary:
        """The words in at least `min_count` texts, most frequent first, ties alphabetically."""
        counts = document_counts(examples)
        kept = [
            word
            for word, count in counts.items()
            if count >= min_count and word not in SPECIAL_TOKENS
        ]
        kept.sort(key=lambda word: (-counts[word], word))
        return cls((*SPECIAL_TOKENS, *kept))

    @cached_property
    def index(self) -> dict[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, tokens: Sequence[str]) -> list[int]:
        """Numbers of the words, between a start and an end token."""
        number = self._number_of_word.get
        return [START, *[number(token, UNKNOWN) for token in tokens], END]

    @cached_property
    def _number_of_word(self) -> dict[str, int]:
        """As `index`, without special tokens: one that is found in a text is an unknown word."""
        return {word: number for word, number in self.index.items() if word not in SPECIAL_TOKENS}
