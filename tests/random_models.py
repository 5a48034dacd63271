"""Models with random parameters, and batches of short texts, for the tests of measures."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from attnaudit.core.contract import Batch
from attnaudit.core.special_tokens import END, START
from attnaudit.models import Architecture, build

Rows = tuple[list[int], ...]

_QUERIES = ([16, 17], [18], [5, 6, 7], [19, 5], [7])
CANDIDATES = torch.tensor([[True, True, False, True]] * 3 + [[False, True, True, False]] * 2)


def short_texts(
    texts: Rows, *, sentences: Rows | None = None, query: bool = False, candidates: bool = False
) -> Batch:
    """Five texts between start and end tokens.

    sentences: the sentence of each token; query: with a query each; candidates: with the classes
    that are possible for each, of four.
    """
    tokens = padded(texts)
    asked = padded(_QUERIES) if query else None
    return Batch(
        tuple(f"text/{index}" for index in range(len(texts))),
        tokens,
        tokens > 0,
        asked,
        None if asked is None else asked > 0,
        segments=None if sentences is None else padded(sentences, 0, -1),
        classes=CANDIDATES if candidates else None,
    )


def random_model(classes: int, query: bool, *, spread: float, **choices: Any) -> Any:
    """A model in float64 whose parameters are drawn from a normal distribution."""
    architecture = Architecture(**{"encoder": "bilstm:hidden=3", "embedding": 4, **choices})
    model = build(architecture, words=30, classes=classes, with_query=query)
    draw = torch.Generator().manual_seed(7)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=spread, generator=draw)
    return model.double().eval()


def padded(rows: Rows, first: int = START, last: int = END) -> Tensor:
    """The rows between two marks, padded with 0; last -1 repeats the last number."""
    marked = [[first, *row, row[-1] if last < 0 else last] for row in rows]
    return torch.tensor([row + [0] * (max(map(len, marked)) - len(row)) for row in marked])
