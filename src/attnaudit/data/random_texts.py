"""A batch of random texts, to try a model on that has no data yet."""

from __future__ import annotations

import torch

from attnaudit.core import randomness
from attnaudit.core.contract import Batch
from attnaudit.core.special_tokens import END, START


def random_batch(*, words: int, with_query: bool, seed: int, examples: int = 6) -> Batch:
    """Texts of random words and different lengths, between start and end tokens.

    Parameters
    ----------
    words : size of the vocabulary, special tokens included.
    with_query : whether every text has a query.
    seed : of the random draws.
    examples : number of texts.

    Examples
    --------
    >>> from attnaudit.data import random_batch
    >>> random_batch(words=50, with_query=False, seed=0, examples=3).example_id
    ('random/0', 'random/1', 'random/2')
    """
    draw = randomness.generator(seed, "random batch")
    lengths = torch.randint(4, 14, (examples,), generator=draw)
    tokens, mask = _texts(lengths, words, draw)
    query = _texts(lengths // 2 + 2, words, draw) if with_query else (None, None)
    names = tuple(f"random/{number}" for number in range(examples))
    sentences = torch.arange(tokens.shape[1]).expand_as(tokens) // 4 * mask
    return Batch(names, tokens, mask, query[0], query[1], segments=sentences)


def _texts(
    lengths: torch.Tensor, words: int, draw: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    position = torch.arange(int(lengths.max()))
    mask = position < lengths[:, None]
    tokens = torch.randint(END + 1, words, mask.shape, generator=draw)
    tokens[:, 0] = START
    tokens = tokens.where(position != lengths[:, None] - 1, END)
    return tokens * mask, mask
