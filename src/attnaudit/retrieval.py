"""Does a ranking find the known truth? Batched, masked, and fair to ties."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit import masking

_PAIRS_AT_ONCE = 2**23


def average_precision(scores: Tensor, relevant: Tensor, mask: Tensor) -> Tensor:
    """Area under the precision–recall curve (B,), as scikit-learn's average_precision_score, ties included.

    Mean over the relevant items of the precision among all items that score at least as much. 1: every relevant item before every other.
    NaN where nothing real is relevant or a score is NaN.
    """
    scores, relevant = masking.fill(scores, mask, -torch.inf), relevant & mask
    batch, items = scores.shape
    parts = []
    for part in torch.arange(batch).split(max(1, _PAIRS_AT_ONCE // max(items**2, 1))):
        at_least = (scores[part, None] >= scores[part, :, None]) & mask[
            part, None
        ]  # (b,i,j): j scores at least as i
        found = (at_least & relevant[part, None]).sum(-1)
        precision = found.double() / at_least.sum(-1).clamp_min(1)
        parts.append(masking.mean(precision, relevant[part]))
    unknown = (scores.isnan() & mask).any(-1)
    return torch.cat(parts).masked_fill(unknown, torch.nan)


def hit_at_1(scores: Tensor, relevant: Tensor, mask: Tensor) -> Tensor:
    """Is the top item relevant (B,)? Among items tied for the top, the share that is: what a coin would give. NaN as above."""
    filled = masking.fill(scores, mask, -torch.inf)
    top = (filled == filled.amax(-1, keepdim=True)) & mask
    hit = masking.mean((relevant & mask).double(), top)
    unknown = (scores.isnan() & mask).any(-1) | ~(relevant & mask).any(-1)
    return hit.masked_fill(unknown, torch.nan)


def mass_on(scores: Tensor, relevant: Tensor, mask: Tensor) -> Tensor:
    """Share of the absolute score that lies on relevant items (B,). NaN as above, and where all scores are 0."""
    size = masking.fill(scores.abs().double(), mask)
    unknown = ~(relevant & mask).any(-1)
    return (masking.total(size, relevant & mask) / size.sum(-1)).masked_fill(unknown, torch.nan)
