"""The witnesses against each other: the ceiling of every audit that compares attention with measures."""

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
    """(first, second, name of the pair): the explanation `of` with every other measure, then the witnesses with each other."""
    if of not in scores:
        raise NotApplicable(
            f"the measure {of!r}, which stands for the explanation here, was not computed"
        )
    others = [name for name in scores if name != of]
    if not others:
        raise NotApplicable(f"no measure was computed besides {of}")
    return [(of, name, name) for name in others] + [(a, b, f"{a}|{b}") for a, b in _pairs(scores)]


def between(values: Values, scores: dict[str, Tensor], metric: str, record: Record) -> Tensor:
    """(B,R) mean of a metric over the pairs of witnesses; NaN where there is none."""
    together = [values[f"{a}|{b}", metric] for a, b in _pairs(scores)]
    nothing = torch.full(record.mask.shape[:2], torch.nan, device=record.mask.device)
    return torch.stack(together or [nothing]).nanmean(0)


def _pairs(scores: dict[str, Tensor]) -> list[tuple[str, str]]:
    return list(combinations([name for name in REFERENCE_MEASURES if name in scores], 2))
