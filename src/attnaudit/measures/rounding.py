"""How large the rounding error of a measure's scores is: declared next to the measure.

Equal importance often comes out a rounding error apart, by item or by batch. Such scores must rank
as equal, so each measure declares what its rounding error is relative to.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.contract import Record
from attnaudit.statistics.ties import tie_rounding

# (scores (M,N), mask (M,N), record) -> scores (M,N) with equal scores tied
RoundingError = Callable[[Tensor, Tensor, Record], Tensor]
MeasureFunction = TypeVar("MeasureFunction", bound=Callable[..., Any])


def of_largest_score(scores: Tensor, mask: Tensor, record: Record) -> Tensor:
    """Tie scores closer than the model's rounding error relative to the largest score; the default.

    Measures that know more about their own rounding error tie their scores themselves.
    """
    largest = masking.fill(scores.abs().nan_to_num(0.0), mask).amax(-1, keepdim=True)
    return tie_rounding(scores, mask, 8 * torch.finfo(record.logits.dtype).eps * largest)


def of_each_score(scores: Tensor, mask: Tensor, record: Record) -> Tensor:
    """Tie scores closer than their own rounding error: for sums and products of weights.

    These are positive numbers, accurate relative to themselves however small they are next to the
    largest.
    """
    return tie_rounding(scores, mask, 0.0, relative=64 * torch.finfo(scores.dtype).eps)


def rounding_error(error: RoundingError) -> Callable[[MeasureFunction], MeasureFunction]:
    """Declare the rounding error of a measure.

    Parameters
    ----------
    error : of_largest_score or of_each_score
        What the rounding error is relative to; `of_largest_score` for a measure that declares none.

    Examples
    --------
    >>> @rounding_error(of_each_score)
    ... def squared_attention(model, record, seed):
    ...     return record.alpha.square()
    """

    def declare(measure: MeasureFunction) -> MeasureFunction:
        measure.rounding_error = error  # type: ignore[attr-defined]
        return measure

    return declare


def tie_equal_scores(measure: Callable[..., Any], scores: Tensor, record: Record) -> Tensor:
    """The scores (B,N) or (B,R,N) of a measure, with those equal up to its rounding error tied."""
    while isinstance(measure, partial):
        measure = measure.func
    error: RoundingError = getattr(measure, "rounding_error", of_largest_score)
    rows = scores[:, None] if scores.dim() == 2 else scores
    attended = record.mask if scores.dim() == 3 else torch.ones_like(record.mask[:, :1])
    mask = record.content[:, None] & attended
    return error(rows.flatten(0, 1), mask.flatten(0, 1), record).view(scores.shape)
