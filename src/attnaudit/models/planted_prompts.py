"""Questions with sources as the planted models of `planted_citations` read them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import count

import torch
from torch import Tensor

from attnaudit.core.randomness import derive
from attnaudit.data.citations import (
    BOTH,
    FIRST_SOURCE,
    REST,
    START,
    WORDS,
    CitationBatch,
    CitationExample,
)
from attnaudit.data.citations.batch import EncodedPrompt, citation_batch


def source_items(batch: CitationBatch) -> Tensor:
    """The item of each token (B,T) if sources are items, whatever the items of the batch are."""
    assert batch.source is not None
    return torch.where(
        (batch.source >= 0) & batch.mask, FIRST_SOURCE + batch.source, batch.item_of_token
    )


def _words(text: str) -> list[str]:
    return [word.strip(".,?!") for word in text.split()]


@cache
def _number(word: str) -> int:
    """The token of a word: the same in every batch."""
    return 1 + derive(0, "planted word", word) % (2**40)


def prompt_batch(
    examples: Sequence[CitationExample], level: str, *, with_question: bool
) -> CitationBatch:
    """The batch of these examples: one token per word, which is the same in every batch.

    Parameters
    ----------
    level : "sources", "words" or "both".
    with_question : whether the question is more than its line.
    """
    encoded = []
    for example in examples:
        parts = [(START, [""])]
        parts += [(FIRST_SOURCE + n, _words(text)) for n, text in enumerate(example.sources)]
        parts.append((REST, ["?", *(_words(example.question) if with_question else [])]))
        items = [item for item, words in parts for _ in words]
        numbers = count(FIRST_SOURCE)
        as_words = [next(numbers) if item >= FIRST_SOURCE else item for item in items]
        encoded.append(
            EncodedPrompt(
                ids=[_number(word) for _, words in parts for word in words],
                items=as_words if level == WORDS else items,
                words=as_words if level == BOTH else None,
                sources=[max(item - FIRST_SOURCE, -1) for item in items],
                answer=[_number(_words(example.answer)[-1])],
                target=[True],
            )
        )
    return citation_batch(examples, encoded)


def name_matches(batch: CitationBatch) -> Tensor:
    """1 for each token that is a name in the question (B,T,1): words that few sources share."""
    matches = [
        _matches_of_prompt(_names(example.question), tokens, items)
        for example, tokens, items in zip(
            batch.examples, batch.tokens.tolist(), batch.item_of_token.tolist(), strict=True
        )
    ]
    found = torch.tensor(matches, dtype=torch.float64, device=batch.tokens.device)
    return found.view(*batch.tokens.shape, 1)


def _matches_of_prompt(names: frozenset[int], tokens: list[int], items: list[int]) -> list[bool]:
    pairs = list(zip(tokens, items, strict=True))
    asked = {token for token, item in pairs if item == REST and token in names}
    return [item >= FIRST_SOURCE and token in asked for token, item in pairs]


@lru_cache(maxsize=4096)
def _names(question: str) -> frozenset[int]:
    """The tokens of the names in a question."""
    return frozenset(_number(word) for word in _words(question)[1:] if word[:1].isupper())
