"""Compute a statistic row by row, on the counted items that each attention row may attend to."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from attnaudit.core.contract import Record


def per_row(record: Record, function: Callable[..., Tensor], *scores: Tensor) -> Tensor:
    """function(*scores of a row (B,N), mask (B,N)) -> (B,), for every row: (B,R).

    scores are (B,R,N), or (B,N) if they are the same for all rows.
    """
    rows = range(record.mask.shape[1])
    return torch.stack(
        [
            function(
                *(row_of(score, row) for score in scores), record.content & record.mask[:, row]
            )
            for row in rows
        ],
        1,
    )


def row_of(scores: Tensor, row: int) -> Tensor:
    """The scores (B,N) of one row of scores (B,R,N) or (B,N)."""
    return scores if scores.dim() == 2 else scores[:, row]


def mean_score_over_rows(scores: Tensor) -> Tensor:
    """The mean (B,N) over the rows of scores (B,R,N); scores (B,N) unchanged.

    An undefined score stays undefined, unlike a metric in `results.rows.mean_over_rows`.
    """
    return scores if scores.dim() == 2 else scores.mean(1)
