"""Examples to batches: padded on the right, alike in length, the same for the same seed."""

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

_AUDIT_BATCH = 128


def collate(examples: Sequence[Example], vocabulary: Vocabulary, class_count: int) -> Batch:
    """One batch of the examples as they stand."""
    if not examples:
        raise InputError("Cannot make a batch of no examples.")
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
    """Groups of about equal length, so that little is padding. With a generator: shuffled, within and between lengths."""
    count = len(examples)
    tie_break = (
        torch.rand(count, generator=generator, dtype=torch.float64)
        if generator
        else torch.linspace(0, 1, count + 1)[:-1]
    )
    lengths = torch.tensor([len(example.tokens) for example in examples], dtype=torch.float64)
    order = (lengths + tie_break).argsort(stable=True).tolist()
    groups = [[examples[i] for i in order[at : at + size]] for at in range(0, count, size)]
    if generator is not None:
        groups = [groups[i] for i in torch.randperm(len(groups), generator=generator).tolist()]
    return groups


def batches_of(
    examples: Sequence[Example], vocabulary: Vocabulary, class_count: int
) -> list[Batch]:
    """All of them, in batches of a size that suits an audit."""
    return [collate(group, vocabulary, class_count) for group in in_batches(examples, _AUDIT_BATCH)]


def _padded(rows: list[list[int]]) -> tuple[Tensor, Tensor]:
    width = max(map(len, rows))
    tokens = torch.tensor([row + [PAD] * (width - len(row)) for row in rows], dtype=torch.int64)
    lengths = torch.tensor([len(row) for row in rows])
    return tokens, torch.arange(width) < lengths[:, None]


def _between_marks(rows: list[Any], tokens: Tensor, dtype: torch.dtype) -> Tensor | None:
    """Per-token values, shifted by one for the start mark; 0 on marks and padding."""
    if any(row is None for row in rows):
        return None
    filled = torch.zeros(tokens.shape, dtype=dtype)
    for at, row in enumerate(rows):
        filled[at, 1 : 1 + len(row)] = torch.tensor(row, dtype=dtype)
    return filled


def _candidates(examples: Sequence[Example], class_count: int) -> Tensor | None:
    if all(example.candidates is None for example in examples):
        return None
    allowed = torch.zeros(len(examples), class_count, dtype=torch.bool)
    for at, example in enumerate(examples):
        allowed[
            at, list(range(class_count) if example.candidates is None else example.candidates)
        ] = True
    return allowed


def _labels(examples: Sequence[Example]) -> Tensor | None:
    if any(example.label is None for example in examples):
        return None
    return torch.tensor([example.label for example in examples], dtype=torch.int64)
