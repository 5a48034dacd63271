"""Batches of prompts with sources left out, and joined again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from attnaudit.data.citations import FIRST_SOURCE, CitationBatch


def with_sources(batch: CitationBatch, index: int, kept: tuple[bool, ...]) -> CitationBatch:
    """Example `index` with only the kept sources, or words of them."""
    one = batch.rows(torch.tensor([index]))
    assert isinstance(one, CitationBatch) and one.items is not None  # noqa: PT018
    keep = torch.tensor([*[True] * FIRST_SOURCE, *kept], device=batch.tokens.device)
    shorter = one.without(~keep[one.items])
    assert isinstance(shorter, CitationBatch)
    return shorter


def joined(batches: Sequence[CitationBatch]) -> CitationBatch:
    """Batches of one example each as one batch."""
    width = max(each.tokens.shape[1] for each in batches)

    def stacked(name: str) -> Tensor:
        parts = [getattr(each, name) for each in batches]
        return torch.cat(
            [torch.nn.functional.pad(part, (0, width - part.shape[1])) for part in parts]
        )

    first = batches[0]
    return replace(
        first,
        example_id=tuple(each.example_id[0] for each in batches),
        tokens=stacked("tokens"),
        mask=stacked("mask"),
        items=stacked("items"),
        source=stacked("source"),
        evidence=None,
        answer=torch.cat([required(each.answer) for each in batches]),
        answer_mask=torch.cat([required(each.answer_mask) for each in batches]),
        target=torch.cat([required(each.target) for each in batches]),
        examples=tuple(each.examples[0] for each in batches),
    )


def required(tensor: Tensor | None) -> Tensor:
    assert tensor is not None  # every batch of this room has it
    return tensor
