"""The scores of the examples that were kept whole: of attention and of every measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd


def kept_scores(examples: pd.DataFrame) -> Iterator[tuple[int, dict[str, Any]]]:
    """Per example, its number of words, and measure -> scores, attention first."""
    if not len(examples):
        return
    # Not itertuples: iterating over the columns of text takes longer than all the rest.
    columns = (examples[name].tolist() for name in ("tokens", "attention", "scores"))
    for tokens, attention, scores in zip(*columns, strict=True):
        named = {"attention": attention}
        for score in scores:
            named[score["measure"]] = score["values"]
        yield len(tokens), named


class ScoreBlock(NamedTuple):
    """Examples of one length that have scores of the same measures, in the same shapes.

    Attributes
    ----------
    numbers : of the examples, in their table, (n,).
    words : their number of words.
    scores : measure -> (n, length), attention first; length is `words`, or a multiple of it if
        there are several attention rows.
    """

    numbers: np.ndarray
    words: int
    scores: dict[str, np.ndarray]


def score_blocks(examples: pd.DataFrame) -> list[ScoreBlock]:
    """The scores of all examples, those of one shape together; in the order of their first."""
    alike: dict[tuple[Any, ...], list[tuple[int, list[Any]]]] = {}
    for number, (words, named) in enumerate(kept_scores(examples)):
        values = list(named.values())
        shape = (words, *named, *map(len, values))
        alike.setdefault(shape, []).append((number, values))
    return [_block(shape, lines) for shape, lines in alike.items()]


def _block(shape: Sequence[Any], lines: Sequence[tuple[int, list[Any]]]) -> ScoreBlock:
    words, *rest = shape
    names, lengths = rest[: len(rest) // 2], rest[len(rest) // 2 :]
    flat = np.concatenate([np.asarray(each, dtype=float) for _, values in lines for each in values])
    columns = np.split(flat.reshape(len(lines), -1), np.cumsum(lengths)[:-1], axis=1)
    return ScoreBlock(
        np.array([number for number, _ in lines]), words, dict(zip(names, columns, strict=True))
    )
