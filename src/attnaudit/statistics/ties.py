"""Scores that differ only by rounding must be ranked as equal."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import masking


def tie_rounding(
    scores: Tensor, mask: Tensor, tolerance: Tensor | float, *, relative: float = 0.0
) -> Tensor:
    """Make scores (B,N) that differ only by rounding equal.

    A run of values, each closer to the next than tolerance (B,1) plus `relative` times its size,
    is set to its smallest value. This is done only if the run as a whole is narrow: in a long text
    many distinct values may be close to their neighbours. Values outside the mask, and NaN, stay
    as they are.

    Examples
    --------
    >>> scores = torch.tensor([[0.3, 0.1, 0.3 + 1e-6]])
    >>> tied = tie_rounding(scores, torch.ones(1, 3, dtype=torch.bool), 1e-5)
    >>> bool(tied[0, 0] == tied[0, 2])
    True
    """
    known = mask & ~scores.isnan()
    ranked, order = masking.fill(scores, known, torch.inf).sort(-1)
    gap = torch.ones_like(known)
    near = tolerance + relative * ranked.abs()
    gap[:, 1:] = ~(ranked[:, 1:] - ranked[:, :-1] <= near[:, 1:])  # inf - inf is NaN: a gap
    run = gap.cumsum(-1) - 1
    least, most = (
        torch.zeros_like(ranked)
        .scatter_reduce(1, run, ranked, kind, include_self=False)
        .gather(1, run)
        for kind in ("amin", "amax")
    )
    tied = torch.where(most - least <= 2 * (tolerance + relative * most.abs()), least, ranked)
    return torch.where(known, torch.empty_like(scores).scatter(1, order, tied), scores)
