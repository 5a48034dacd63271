"""Batches of prompts with sources left out, and joined again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from attnaudit.data.citations import FIRST_SOURCE, CitationBatch


def kept_tokens(batch: CitationBatch, index: int, kept: Sequence[bool]) -> Tensor:
    """Which tokens of example `index` (T,) stay with only the kept sources, or words of them.

    The end of a line is of no word. It goes with the last word of its source, so that leaving out
    all words of a source is leaving out the source.
    """
    item, source = required(batch.items)[index], required(batch.source)[index]
    keep = torch.tensor([*[True] * FIRST_SOURCE, *kept], device=item.device)
    stays = keep[item] & batch.mask[index]
    ends_line = (source >= 0) & (item < FIRST_SOURCE)
    held = source[stays & (source >= 0) & ~ends_line]
    return stays & ~(ends_line & ~torch.isin(source, held))


def with_tokens(batch: CitationBatch, index: int, stays: Tensor) -> CitationBatch:
    """Example `index` with only the tokens that stay (T,)."""
    shorter = batch.rows(torch.tensor([index])).without(~stays[None])
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
        words=None,
        evidence=None,
        answer=torch.cat([required(each.answer) for each in batches]),
        answer_mask=torch.cat([required(each.answer_mask) for each in batches]),
        target=torch.cat([required(each.target) for each in batches]),
        examples=tuple(each.examples[0] for each in batches),
    )


def required(tensor: Tensor | None) -> Tensor:
    assert tensor is not None  # every batch of this room has it
    return tensor
