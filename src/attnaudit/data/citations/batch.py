"""Questions with sources as a model reads them: tokens, and the item of each.

Items are the sources, or their words, and three that are never ranked: the first token, which
attention tends to sink into, other special tokens, and everything else (instructions, question,
answer).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from attnaudit.core.contract import Batch
from attnaudit.data.citations.example import CitationExample

START, MARKS, REST, FIRST_SOURCE = 0, 1, 2, 3  # items; sources are counted from the last of these
SOURCES, WORDS, BOTH = "sources", "words", "both"  # what is scored and left out


@dataclass(frozen=True, eq=False)
class CitationBatch(Batch):
    """A batch of prompts with sources, and their answers.

    `tokens` (B,T) are the prompt; the answer (B,A) is kept apart.
    """

    per_token: ClassVar[tuple[str, ...]] = (*Batch.per_token, "items", "source", "words")

    items: Tensor | None = None  # (B,T) int64, the item of each token; padding is 0
    source: Tensor | None = None  # (B,T) int64, the number of each token's source; -1: of none
    # (B,T) int64, the item of each token if words are items; if both levels are read
    words: Tensor | None = None
    answer: Tensor | None = None  # (B,A) int64
    answer_mask: Tensor | None = None  # (B,A) bool
    target: Tensor | None = None  # (B,A) bool, the tokens of the span that is asked about
    examples: tuple[CitationExample, ...] = ()

    def rows(self, index: Tensor) -> Batch:
        """The examples at index (M,), which may repeat."""
        picked = super().rows(index)
        examples = tuple(self.examples[i] for i in index.tolist())
        return replace(picked, examples=examples)  # type: ignore[call-arg]

    def of_words(self) -> CitationBatch:
        """The same prompts with words as items, of a batch for both levels."""
        assert self.words is not None  # set by whoever makes batches for both levels
        return replace(self, items=self.words, words=None)

    @property
    def item_of_token(self) -> Tensor:
        """The item of each token (B,T); -1 in the padding."""
        assert self.items is not None  # set by whoever makes such batches
        return self.items.masked_fill(~self.mask, -1)

    @property
    def item_count(self) -> int:
        """Number of items N of the example with most."""
        return max(FIRST_SOURCE + 1, int(self.item_of_token.max()) + 1)

    def source_of_items(self, index: int) -> list[int]:
        """The number of the source of each item of example `index`; -1 for none."""
        assert self.source is not None  # set by whoever makes such batches
        found = [-1] * self.item_count
        for item, source in zip(
            self.item_of_token[index].tolist(), self.source[index].tolist(), strict=True
        ):
            if item >= FIRST_SOURCE:
                found[item] = source
        return found

    @property
    def has_source(self) -> Tensor:
        """Which items are sources, or words of them, that the prompt holds (B,N)."""
        item = torch.arange(self.item_count, device=self.tokens.device)
        held = (self.item_of_token[:, None] == item[:, None]).any(-1)
        return held & (item >= FIRST_SOURCE)


@dataclass(frozen=True)
class EncodedPrompt:
    """Tokens of a prompt and its answer, as lists.

    Parameters
    ----------
    ids, items, sources : one number per token of the prompt: the token, its item, and the source
        that it is of, -1 for none.
    answer, target : the tokens of the answer, and which of them are asked about.
    words : if both levels are read, the item of each token of the prompt if words are items.
    """

    ids: list[int]
    items: list[int]
    sources: list[int]
    answer: list[int]
    target: list[bool]
    words: list[int] | None = None


def citation_batch(
    examples: Sequence[CitationExample], encoded: Sequence[EncodedPrompt]
) -> CitationBatch:
    """The batch of these examples, on the processor; tokens of needed sources are evidence."""
    tokens, mask = padded([each.ids for each in encoded])
    items, _ = padded([each.items for each in encoded])
    source, _ = padded([each.sources for each in encoded])
    answer, answer_mask = padded([each.answer for each in encoded])
    target, _ = padded([each.target for each in encoded])
    words = None
    if all(each.words is not None for each in encoded):
        words, _ = padded([each.words or [] for each in encoded])
    evidence = torch.zeros_like(mask)
    for index, example in enumerate(examples):
        for number in example.gold or ():
            evidence[index] |= (source[index] == number) & mask[index]
    return CitationBatch(
        tuple(example.example_id for example in examples),
        tokens,
        mask,
        evidence=evidence if any(example.gold is not None for example in examples) else None,
        items=items,
        source=source,
        words=words,
        answer=answer,
        answer_mask=answer_mask,
        target=target.bool(),
        examples=tuple(examples),
    )


def padded(lists: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Lists of different lengths as one tensor (B,T), and its mask.

    Examples
    --------
    >>> padded([[5, 6], [7]])[0].tolist()
    [[5, 6], [7, 0]]
    """
    width = max((len(each) for each in lists), default=1) or 1
    filled = torch.tensor([[*each, *[0] * (width - len(each))] for each in lists])
    lengths = torch.tensor([len(each) for each in lists])
    return filled, torch.arange(width) < lengths[:, None]
