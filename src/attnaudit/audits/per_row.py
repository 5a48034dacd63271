"""Audits that look at one attention row at a time, on the items that row may attend to and that count."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from attnaudit.core.contract import Record


def by_row(record: Record, function: Callable[..., Tensor], *scores: Tensor) -> Tensor:
    """(B,R): function(*scores of the row (B,N), mask (B,N)) -> (B,) for every row; scores (B,N) are the same for all of them."""
    rows = range(record.mask.shape[1])
    return torch.stack(
        [
            function(
                *(of_row(score, row) for score in scores), record.content & record.mask[:, row]
            )
            for row in rows
        ],
        1,
    )


def of_row(scores: Tensor, row: int) -> Tensor:
    return scores if scores.dim() == 2 else scores[:, row]
