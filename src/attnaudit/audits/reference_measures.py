"""The ceiling of agreement with attention: how far the reference measures agree with each other."""

from __future__ import annotations

from itertools import combinations

import torch
from torch import Tensor

from attnaudit.audits.declaration import Values
from attnaudit.core.contract import Record
from attnaudit.core.errors import NotApplicable
from attnaudit.measures import REFERENCE_MEASURES

BETWEEN = "between_measures"


def compared(scores: dict[str, Tensor], of: str) -> list[tuple[str, str, str]]:
    """The pairs to compare, as (first, second, name of the pair).

    The explanation `of` with every other measure, then the reference measures with each other.
    """
    if of not in scores:
        raise NotApplicable(
            f"the measure {of!r}, which stands for the explanation here, was not computed"
        )
    others = [name for name in scores if name != of]
    if not others:
        raise NotApplicable(f"no measure was computed besides {of}")
    return [(of, name, name) for name in others] + [(a, b, f"{a}|{b}") for a, b in _pairs(scores)]


def between(values: Values, scores: dict[str, Tensor], metric: str, record: Record) -> Tensor:
    """Mean (B,R) of a metric over the pairs of reference measures; NaN if there is no pair."""
    of_pairs = [values[f"{a}|{b}", metric] for a, b in _pairs(scores)]
    nan = torch.full(record.mask.shape[:2], torch.nan, device=record.mask.device)
    return torch.stack(of_pairs or [nan]).nanmean(0)


def _pairs(scores: dict[str, Tensor]) -> list[tuple[str, str]]:
    return list(combinations([name for name in REFERENCE_MEASURES if name in scores], 2))
