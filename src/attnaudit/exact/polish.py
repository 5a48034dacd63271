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

_HALVINGS = 50
_INWARD = 1 - 1e-9  # stay this much inside the bound


def polish(given: Prepared, epsilon: Tensor, proposals: Tensor) -> list[Tensor]:
    """Attentions (B,N) near the proposals (B,M,N), feasible up to rounding; epsilon (B,)."""
    count = proposals.shape[1]
    example = torch.arange(len(proposals), device=proposals.device).repeat_interleave(count)
    many, flat = given.rows(example), proposals.flatten(0, 1)
    share = _feasible_share(many, epsilon[example], flat)
    mixed = share[:, None] * flat + (1 - share)[:, None] * many.alpha
    corrected = _corrected(many, flat, share)
    fits = many.moved(corrected) <= epsilon[example]
    found = torch.where(fits[:, None], corrected, mixed)
    far = statistics.jsd(found, many.alpha).view(len(proposals), count)
    # The proposal that promises most is moved to a vertex in any case, and so is the best found.
    wished = statistics.jsd(flat, many.alpha).view_as(far).argmax(-1)
    best = _pick(found, far.argmax(-1), count)
    return [
        best,
        far_vertex(given, given.alpha, start=best),
        far_vertex(given, given.alpha, start=_pick(mixed, wished, count)),
    ]


def _pick(flat: Tensor, which: Tensor, count: int) -> Tensor:
    """Row `which` (B,) of each example from flat (B·count,N)."""
    return flat[torch.arange(len(which), device=flat.device) * count + which]


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


def _corrected(given: Prepared, alpha: Tensor, share: Tensor) -> Tensor:
    """The attention with weight on the same items as alpha and its log-odds drawn back to share.

    The correction is the smallest one relative to the weights; it need not exist.
    """
    rows = constraints_of(given)  # (B,C,N)
    excess = (1 - share)[:, None] * (rows @ (given.alpha - alpha)[..., None])[..., 0]
    weighted = rows * alpha[:, None]
    steps = torch.linalg.pinv(weighted @ rows.transpose(1, 2), hermitian=True) @ excess[..., None]
    moved = (alpha + (weighted.transpose(1, 2) @ steps)[..., 0]).clamp_min(0)
    return moved / moved.sum(-1, keepdim=True).clamp_min(1e-300)
