"""Examples to batches: padded on the right and grouped by length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from attnaudit.core.contract import Batch
from attnaudit.core.errors import InputError
from attnaudit.core.special_tokens import PAD
from attnaudit.data.splits import Example
from attnaudit.data.vocabulary import Vocabulary

_AUDIT_BATCH = 128  # examples per batch in an audit
_AUDIT_TOKENS = 2**16  # the same in tokens: 128 texts of 512 words, 3 of 20,000


def collate(examples: Sequence[Example], vocabulary: Vocabulary, class_count: int) -> Batch:
    """Make one batch of the examples, in their order.

    Parameters
    ----------
    examples : sequence of Example
        B examples; whether the first has a query decides for all.
    vocabulary : Vocabulary
        Gives the numbers of the words.
    class_count : int
        Number of classes C of the model.

    Returns
    -------
    Batch
        With tokens and mask (B,T), padded on the right; evidence and segments (B,T) and labels
        (B,) if every example has them; classes (B,C) if any example has candidates.

    Examples
    --------
    >>> from attnaudit.data import Example, Vocabulary
    >>> examples = [Example("a", ("so", "dull"), label=0), Example("b", ("great",), label=1)]
    >>> collate(examples, Vocabulary.build(examples), 2).tokens.tolist()
    [[1, 6, 4, 2], [1, 5, 2, 0]]
    """
    if not examples:
        raise InputError("Cannot make a batch without examples. Give at least one.")
    tokens, mask = _padded([vocabulary.encode(example.tokens) for example in examples])
    query = query_mask = None
    if examples[0].query is not None:
        query, query_mask = _padded(
            [vocabulary.encode(example.query or ()) for example in examples]
        )
    return Batch(
        example_id=tuple(example.example_id for example in examples),
        tokens=tokens,
        mask=mask,
        query=query,
        query_mask=query_mask,
        segments=_between_marks([example.segments for example in examples], tokens, torch.int64),
        classes=_candidates(examples, class_count),
        labels=_labels(examples),
        evidence=_between_marks([example.evidence for example in examples], tokens, torch.bool),
    )


def in_batches(
    examples: Sequence[Example],
    size: int,
    *,
    generator: torch.Generator | None = None,
) -> list[list[Example]]:
    """Group examples of similar length, so that little is padding.

    Parameters
    ----------
    examples : sequence of Example
        The examples to group.
    size : int
        Examples per group; the last may have fewer.
    generator : torch.Generator, optional
        Shuffles examples of the same length, and the groups; if omitted, nothing is random.
    """
    count = len(examples)
    tie_break = (
        torch.rand(count, generator=generator, dtype=torch.float64)
        if generator
        else torch.linspace(0, 1, count + 1)[:-1]
    )
    lengths = torch.tensor([len(example.tokens) for example in examples], dtype=torch.float64)
    order = (lengths + tie_break).argsort(stable=True).tolist()
    groups = [
        [examples[index] for index in order[start : start + size]]
        for start in range(0, count, size)
    ]
    if generator is not None:
        shuffled = torch.randperm(len(groups), generator=generator).tolist()
        groups = [groups[index] for index in shuffled]
    return groups


def batches_of(
    examples: Sequence[Example], vocabulary: Vocabulary, class_count: int
) -> list[Batch]:
    """All examples as batches of a size that suits an audit, grouped by length.

    Parameters are those of `collate`.
    """
    return [
        collate(part, vocabulary, class_count)
        for group in in_batches(examples, _AUDIT_BATCH)
        for part in _bounded(group, _AUDIT_TOKENS)
    ]


def _bounded(group: list[Example], tokens: int) -> list[list[Example]]:
    """The group, sorted by length, in parts of at most so many tokens, or of one text."""
    parts: list[list[Example]] = [[]]
    for example in group:
        if parts[-1] and len(example.tokens) * (len(parts[-1]) + 1) > tokens:
            parts.append([])
        parts[-1].append(example)
    return parts


def _padded(rows: list[list[int]]) -> tuple[Tensor, Tensor]:
    """Token numbers and mask, both (B,T)."""
    width = max(map(len, rows))
    tokens = torch.tensor([row + [PAD] * (width - len(row)) for row in rows], dtype=torch.int64)
    lengths = torch.tensor([len(row) for row in rows])
    return tokens, torch.arange(width) < lengths[:, None]


def _between_marks(rows: list[Any], tokens: Tensor, dtype: torch.dtype) -> Tensor | None:
    """Per-token values (B,T), shifted by one for the start token; 0 on special tokens."""
    if any(row is None for row in rows):
        return None
    filled = torch.zeros(tokens.shape, dtype=dtype)
    for index, row in enumerate(rows):
        filled[index, 1 : 1 + len(row)] = torch.tensor(row, dtype=dtype)
    return filled


def _candidates(examples: Sequence[Example], class_count: int) -> Tensor | None:
    if all(example.candidates is None for example in examples):
        return None
    allowed = torch.zeros(len(examples), class_count, dtype=torch.bool)
    for index, example in enumerate(examples):
        candidates = range(class_count) if example.candidates is None else example.candidates
        allowed[index, list(candidates)] = True
    return allowed


def _labels(examples: Sequence[Example]) -> Tensor | None:
    if any(example.label is None for example in examples):
        return None
    return torch.tensor([example.label for example in examples], dtype=torch.int64)
