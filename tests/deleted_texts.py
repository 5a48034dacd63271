"""Texts and models for tests of deletion: any length, parameters that make attention uneven."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attnaudit.core.contract import Batch, Record
from attnaudit.core.special_tokens import END, START
from attnaudit.models import Architecture, build

WORDS = 60
LENGTHS = (40, 1, 2, 3, 0, 7, 19, 33, 20, 5, 40, 12, 38)  # words between the marks
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}


def padded(lengths: tuple[int, ...], seed: int) -> Tensor:
    draw = torch.Generator().manual_seed(seed)
    place, ends = torch.arange(max(lengths) + 2), torch.tensor(lengths)[:, None] + 1
    tokens = torch.randint(END + 1, WORDS, (len(lengths), len(place)), generator=draw)
    tokens[:, 0] = START
    return tokens.where(place != ends, END) * (place <= ends)


def texts(with_query: bool, lengths: tuple[int, ...] = LENGTHS) -> Batch:
    tokens = padded(lengths, 0)
    query = padded(tuple(1 + at % 4 for at in range(len(lengths))), 1) if with_query else None
    names = tuple(f"text/{at}" for at in range(len(lengths)))
    return Batch(names, tokens, tokens > 0, query, None if query is None else query > 0)


def made(
    encoder: str,
    dtype: torch.dtype = torch.float64,
    *,
    with_query: bool = False,
    classes: int = 3,
    **parts: str,
):
    """Return a model with parameters so large that attention is not uniform.

    It uses incremental deletion however few the deletions are.
    """
    architecture = Architecture(encoder=encoder, embedding=6, **parts)
    model = build(architecture, words=WORDS, classes=classes, with_query=with_query).double()
    draw = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(0.5 * torch.randn(parameter.shape, generator=draw, dtype=torch.float64))
    for part in model.modules():
        if hasattr(part, "fewest_deletions"):
            part.fewest_deletions = 0
    return model.to(dtype).eval()


@torch.no_grad()
def read(model: nn.Module, batch: Batch) -> Record:
    return model.read(batch)


def assert_same(found: Tensor, plain: Tensor, what: object = "") -> None:
    """NaN in the same places, and apart by no more than rounding of the largest logit."""
    assert torch.equal(found.isnan(), plain.isnan()), what
    largest = plain.nan_to_num().abs().max().clamp_min(1.0)
    assert (found - plain).nan_to_num().abs().max() <= TOLERANCE[plain.dtype] * largest, what
