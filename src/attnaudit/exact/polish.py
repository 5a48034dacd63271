"""Make nearly feasible attentions feasible, keeping them as far as they can be.

The log-odds are drawn back towards the original ones until the prediction is within epsilon. The
items that carry weight then share the correction; where they cannot, the attention is mixed with
the original and moved to a vertex of the attentions with the same log-odds.
"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.core import masking
from attnaudit.exact.inputs import Prepared
from attnaudit.exact.vertices import constraints_of, far_vertex

_HALVINGS = 40
_INWARD = 1 - 1e-9  # stay this much inside the bound


def polish(given: Prepared, epsilon: Tensor, proposals: Tensor) -> Tensor:
    """Feasible attentions (B,M+1,N): one near each proposal (B,M,N), and a vertex; epsilon (B,)."""
    count = proposals.shape[1]
    example = torch.arange(len(proposals), device=proposals.device).repeat_interleave(count)
    many, flat = given.rows(example), proposals.flatten(0, 1)
    feasible = corrected(many, epsilon[example], flat)
    share = _feasible_share(many, epsilon[example], flat)[:, None]
    mixed = share * flat + (1 - share) * many.alpha
    fits = many.moved(feasible) <= epsilon[example]
    feasible = torch.where(fits[:, None], feasible, mixed).view_as(proposals)
    wished = statistics.jsd(proposals, given.alpha[:, None]).argmax(-1)
    start = mixed.view_as(proposals)[torch.arange(len(wished), device=wished.device), wished]
    vertex = far_vertex(given, given.alpha, start=start)
    return torch.cat([feasible, vertex[:, None]], 1)


def corrected(given: Prepared, epsilon: Tensor, alpha: Tensor) -> Tensor:
    """alpha (B,N) with its log-odds drawn back to epsilon (B,) and weight on the same items.

    The correction is the smallest one relative to the weights. If these items do not allow one, the
    result is not feasible.
    """
    share = _feasible_share(given, epsilon, alpha)
    rows = constraints_of(given)  # (B,C,N)
    excess = (1 - share)[:, None] * (rows @ (given.alpha - alpha)[..., None])[..., 0]
    weighted = rows * alpha[:, None]
    steps = torch.linalg.pinv(weighted @ rows.transpose(1, 2), hermitian=True) @ excess[..., None]
    moved = (alpha + (weighted.transpose(1, 2) @ steps)[..., 0]).clamp_min(0)
    return moved / moved.sum(-1, keepdim=True).clamp_min(1e-300)


def _feasible_share(given: Prepared, epsilon: Tensor, alpha: Tensor) -> Tensor:
    """How far (B,) from the original towards alpha (B,N) the prediction stays within epsilon."""
    original, target = given.logits_of(given.alpha), given.logits_of(alpha)
    good, bad = torch.zeros_like(epsilon), torch.ones_like(epsilon)
    share = bad
    for _ in range(_HALVINGS):
        logits = original + share[:, None] * (target - original)
        fits = given.change(masking.probabilities(logits, given.classes)) <= epsilon
        good, bad = torch.where(fits, share, good), torch.where(fits, bad, share)
        share = (good + bad) / 2
    return torch.where(good < 1, good * _INWARD, good)
