"""A small random BiLSTM with a few texts and its scores, and its numbers example by example."""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from torch import Tensor

from attnaudit.audits import AUDITS
from attnaudit.core.contract import Batch, Record
from attnaudit.measures import MEASURES
from attnaudit.models import Architecture, build

START, END = 1, 2


TEXT_LENGTHS = (1, 2, 3, 7, 12, 5)


@cache
def bilstm_case(
    projection: str = "softmax", classes: int = 2
) -> tuple[object, Record, dict[str, Tensor]]:
    draw = np.random.default_rng(3)
    texts = [[START, *draw.integers(5, 30, length).tolist(), END] for length in TEXT_LENGTHS]
    width = max(map(len, texts))
    tokens = torch.tensor([text + [0] * (width - len(text)) for text in texts])
    evidence = (torch.rand(tokens.shape, generator=torch.Generator().manual_seed(0)) < 0.4) & (
        tokens > END
    )
    evidence[3] = False  # nothing is known of this one
    batch = Batch(
        tuple(f"t{index}" for index in range(len(texts))),
        tokens,
        tokens > 0,
        labels=torch.zeros(len(texts), dtype=torch.int64),
        evidence=evidence,
    )
    parts = Architecture(encoder="bilstm:hidden=5", embedding=6, projection=projection)
    model = build(parts, words=30, classes=classes, with_query=False, seed=4).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)
        record = model.read(batch)
    names = ("attention", "gradient", "leave_one_out", "random")
    scores = {name: MEASURES[name](model, record, 0).detach() for name in names}
    return model, record, scores


def counted_items(record: Record, index: int) -> list[int]:
    return (record.content & record.mask[:, 0])[index].nonzero()[:, 0].tolist()


def first_row(score: Tensor, index: int) -> Tensor:
    return score[index, 0] if score.dim() == 3 else score[index]


def run_audit(
    name: str, projection: str = "softmax", **options: object
) -> dict[tuple[str, str], Tensor]:
    model, record, scores = bilstm_case(projection)
    with torch.no_grad():
        return AUDITS[name](model, record, scores, 0, **options)
