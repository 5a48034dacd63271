"""How well a ranking retrieves known evidence. Batched and masked; position breaks no ties."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import masking

_PAIRS_AT_ONCE = 2**23


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
    scores, relevant = masking.fill(scores, mask, -torch.inf), relevant & mask
    batch, items = scores.shape
    parts = []
    for part in torch.arange(batch).split(max(1, _PAIRS_AT_ONCE // max(items**2, 1))):
        # (b,i,j): j scores at least as high as i
        at_least = (scores[part, None] >= scores[part, :, None]) & mask[part, None]
        retrieved = (at_least & relevant[part, None]).sum(-1)
        precision = retrieved.double() / at_least.sum(-1).clamp_min(1)
        parts.append(masking.mean(precision, relevant[part]))
    unknown = (scores.isnan() & mask).any(-1)
    return torch.cat(parts).masked_fill(unknown, torch.nan)


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
    runs, true_runs = _runs(chosen), _runs(relevant)
    count, true_count = runs.amax(-1), true_runs.amax(-1)
    most, most_true = (int(runs.max()) if len(runs) else 0 for runs in (count, true_count))
    shared = torch.zeros(
        len(runs), most + 1, most_true + 1, dtype=torch.float64, device=runs.device
    )
    both = runs * (most_true + 1) + true_runs
    shared.view(len(runs), -1).scatter_add_(1, both, torch.ones_like(both, dtype=torch.float64))
    size, true_size = shared.sum(2, keepdim=True), shared.sum(1, keepdim=True)
    overlap = (shared / (size + true_size - shared))[:, 1:, 1:] >= least
    none = torch.zeros_like(count, dtype=torch.float64)
    matched = overlap.any(2).sum(-1).double() if most_true else none
    true_matched = overlap.any(1).sum(-1).double() if most else none
    precision = matched / count.clamp_min(1)
    recall = true_matched / true_count.clamp_min(1)
    f1 = 2 * precision * recall / (precision + recall).clamp_min(torch.finfo(torch.float64).tiny)
    return f1.masked_fill(~relevant.any(-1), torch.nan)


def _runs(chosen: Tensor) -> Tensor:
    """The number 1, 2, … of the run of True that each item is in; 0 where False."""
    begins = chosen & ~torch.nn.functional.pad(chosen, (1, 0))[..., :-1]
    return begins.long().cumsum(-1) * chosen
