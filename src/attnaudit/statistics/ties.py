"""Scores that differ only by rounding are equal, and must rank as equal."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import masking


def tie_rounding(
    scores: Tensor, mask: Tensor, tolerance: Tensor | float, *, relative: float = 0.0
) -> Tensor:
    """scores (B,N) where runs of values closer than tolerance (B,1), plus `relative` of their own size, to their neighbours are set to the
    least of the run.

    Only runs that are narrow as a whole: in a long text many distinct values may lie close together like beads, and are left alone.
    Values outside the mask, and NaN, stay as they are.
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
