"""How well a ranking retrieves known evidence. Batched and masked; position breaks no ties."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.statistics.pairs import dense_ranks, has_nan, per_rank


def average_precision(scores: Tensor, relevant: Tensor, mask: Tensor) -> Tensor:
    """Area under the precision–recall curve (B,), as scikit-learn's average_precision_score.

    The mean over the relevant items of the precision among all items that score at least as much.
    1: every relevant item comes before every other. NaN if no real item is relevant or a score is
    NaN.

    Examples
    --------
    >>> scores, relevant = torch.tensor([[3.0, 2.0, 1.0]]), torch.tensor([[True, False, True]])
    >>> average_precision(scores, relevant, torch.ones(1, 3, dtype=torch.bool))
    tensor([0.8333], dtype=torch.float64)
    """
    relevant = relevant & mask
    ranks = dense_ranks(scores, mask)
    retrieved, at_least = (
        per_rank(ranks, chosen.double()).flip(-1).cumsum(-1).flip(-1).gather(-1, ranks)
        for chosen in (relevant, mask)
    )  # (B,N): how many score at least as high as each item
    precision = masking.mean(retrieved / at_least.clamp_min(1), relevant)
    return precision.masked_fill(has_nan(mask, scores), torch.nan)


def hit_at_1(scores: Tensor, relevant: Tensor, mask: Tensor) -> Tensor:
    """Is the top item relevant? (B,) Of items tied for the top, the share that is.

    NaN as for `average_precision`.
    """
    filled = masking.fill(scores, mask, -torch.inf)
    top = (filled == filled.amax(-1, keepdim=True)) & mask
    hit = masking.mean((relevant & mask).double(), top)
    unknown = (scores.isnan() & mask).any(-1) | ~(relevant & mask).any(-1)
    return hit.masked_fill(unknown, torch.nan)


def mass_on(scores: Tensor, relevant: Tensor, mask: Tensor) -> Tensor:
    """The share of the absolute scores that is on relevant items (B,).

    NaN as for `average_precision`, and if all scores are 0.
    """
    size = masking.fill(scores.abs().double(), mask)
    unknown = ~(relevant & mask).any(-1)
    return (masking.total(size, relevant & mask) / size.sum(-1)).masked_fill(unknown, torch.nan)


def top_as_many(scores: Tensor, relevant: Tensor, mask: Tensor, tie_break: Tensor) -> Tensor:
    """The items with the highest scores, as many as are relevant: (B,N). Ties go by tie_break."""
    order = masking.descending(scores.nan_to_num(-torch.inf), mask, tie_break)
    return (order.argsort(-1) < (relevant & mask).sum(-1, keepdim=True)) & mask


def token_f1(chosen: Tensor, relevant: Tensor, mask: Tensor) -> Tensor:
    """F1 of the chosen items (DeYoung et al. 2020): (B,), NaN if none is relevant."""
    chosen, relevant = chosen & mask, relevant & mask
    hits = (chosen & relevant).sum(-1).double()
    of_either = (chosen.sum(-1) + relevant.sum(-1)).double()
    return (2 * hits / of_either).masked_fill(~relevant.any(-1), torch.nan)


def iou_f1(chosen: Tensor, relevant: Tensor, mask: Tensor, *, least: float = 0.5) -> Tensor:
    """F1 over runs of neighbouring items (DeYoung et al. 2020): (B,), NaN if none is relevant.

    A run is matched if its intersection with a run of the other side is at least `least` of their
    union.
    """
    chosen, relevant = chosen & mask, relevant & mask
    runs, true_runs, shared_runs = (_runs(flags) for flags in (chosen, relevant, chosen & relevant))
    # Two runs share one run at most: of each item, the sizes of the three runs that it is in.
    size, true_size, shared = (_size(numbered) for numbered in (runs, true_runs, shared_runs))
    overlap = (shared_runs > 0) & (shared / (size + true_size - shared) >= least)
    precision, recall = (
        _touched(numbered, overlap) / numbered.amax(-1).clamp_min(1)
        for numbered in (runs, true_runs)
    )
    f1 = 2 * precision * recall / (precision + recall).clamp_min(torch.finfo(torch.float64).tiny)
    return f1.masked_fill(~relevant.any(-1), torch.nan)


def _runs(chosen: Tensor) -> Tensor:
    """The number 1, 2, … of the run of True that each item is in; 0 where False."""
    begins = chosen & ~torch.nn.functional.pad(chosen, (1, 0))[..., :-1]
    return begins.long().cumsum(-1) * chosen


def _size(runs: Tensor) -> Tensor:
    """The number of items of the run that each item is in: (B,N) float64."""
    one = torch.ones_like(runs, dtype=torch.float64)
    sizes = torch.zeros(len(runs), runs.shape[1] + 1, dtype=one.dtype, device=runs.device)
    return sizes.scatter_add_(1, runs, one).gather(1, runs)


def _touched(runs: Tensor, items: Tensor) -> Tensor:
    """The number of runs that hold one of the items (B,N): (B,) float64."""
    held = torch.zeros(len(runs), runs.shape[1] + 1, dtype=torch.float64, device=runs.device)
    return held.scatter_(1, runs * items, 1.0)[:, 1:].sum(-1)
