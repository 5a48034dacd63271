"""Where a job is cut into shards of examples: by the number of their tokens alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

Example = TypeVar("Example")

TOKENS_PER_SHARD = 2**14  # a few seconds to a few minutes of work


def in_shards(
    examples: Iterable[tuple[Example, int]], tokens_per_shard: int
) -> Iterator[list[Example]]:
    """Cut a stream of examples into shards.

    Parameters
    ----------
    examples : each with its number of tokens.
    tokens_per_shard : a shard is full when it holds this many; the last one may have fewer.

    Examples
    --------
    >>> list(in_shards([("a", 5), ("b", 6), ("c", 20), ("d", 1)], 10))
    [['a', 'b'], ['c'], ['d']]
    """
    shard: list[Example] = []
    size = 0
    for example, tokens in examples:
        shard.append(example)
        size += tokens
        if size >= tokens_per_shard:
            yield shard
            shard, size = [], 0
    if shard:
        yield shard
