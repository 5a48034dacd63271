"""Make nearly feasible attentions feasible, keeping them as far as they can be.

The log-odds are drawn back towards the original ones until the prediction is within epsilon. The
items that carry weight then share the correction; where they cannot, the attention is mixed with
the original and moved to a vertex of the attentions with the same log-odds.
"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.exact.inputs import Prepared, class_softmax
from attnaudit.exact.vertices import constraints_of, far_vertex

_ROUNDS, _GUESSES = 6, 2
_INWARD = 1 - 1e-7  # stay this much inside the bound
_RIDGE = 1e-13  # of the trace


def polish(given: Prepared, epsilon: Tensor, proposals: Tensor) -> Tensor:
    """Feasible attentions (B,M+1,N): one near each proposal (B,M,N), and a vertex; epsilon (B,)."""
    feasible, share = corrected(given, constraints_of(given), epsilon, proposals)
    mixed = share[..., None] * proposals + (1 - share[..., None]) * given.alpha[:, None]
    feasible = torch.where(given.within(feasible, epsilon)[..., None], feasible, mixed)
    wished = statistics.jsd(proposals, given.alpha[:, None]).argmax(-1)
    start = mixed[torch.arange(len(wished), device=wished.device), wished]
    vertex = far_vertex(given, given.alpha, start=start)
    return torch.cat([feasible, vertex[:, None]], 1)


def corrected(
    given: Prepared, constraints: Tensor, epsilon: Tensor, alpha: Tensor
) -> tuple[Tensor, Tensor]:
    """alpha (B,M,N) with its log-odds drawn back to epsilon (B,) and weight on the same items.

    The correction is the smallest one relative to the weights. If these items do not allow one, the
    result is not feasible. `constraints` (B,C,N) are those of `vertices`. Also returned: how far
    (B,M) from the original towards alpha the prediction stays within epsilon.
    """
    share = _feasible_share(given, epsilon, alpha)
    excess = (given.alpha[:, None] - alpha) @ constraints.transpose(1, 2)  # (B,M,C)
    excess = (1 - share)[..., None] * excess
    products = constraints[:, None] * alpha[:, :, None]  # (B,M,C,N)
    products = products @ constraints[:, None].transpose(2, 3)
    size = products.diagonal(dim1=-2, dim2=-1)
    size.add_(_RIDGE * size.sum(-1, keepdim=True) + 1e-300)  # fewer items than classes: singular
    steps = torch.linalg.solve_ex(products, excess).result
    moved = (alpha * (1 + steps @ constraints)).clamp_min(0)
    return moved / moved.sum(-1, keepdim=True).clamp_min(1e-300), share


def _feasible_share(given: Prepared, epsilon: Tensor, alpha: Tensor) -> Tensor:
    """How far (B,M) from the original towards alpha (B,M,N) the prediction stays within epsilon.

    TVD is almost proportional to the share at first: two guesses from that, then false position; an
    end that stays counts half (Illinois).
    """
    original = given.logits_of(given.alpha)[:, None]
    change = alpha @ given.readout - original
    most = _INWARD * epsilon[:, None]

    def moved(share: Tensor) -> Tensor:
        return given.change(class_softmax(original + share[..., None] * change))

    p = given.probs[:, None]
    slope = given.change(p + p * (change - (p * change).sum(-1, keepdim=True)))
    good, bad = torch.zeros_like(alpha[..., 0]), torch.ones_like(alpha[..., 0])
    under, over = (-most).expand_as(good), moved(bad) - most
    whole = over <= 0
    guess = most / slope
    for step in range(_ROUNDS):
        if step >= _GUESSES:
            guess = good + (bad - good) * (under / (under - over))
        width = bad - good
        share = torch.minimum(torch.maximum(guess, good + 1e-3 * width), bad - 1e-3 * width)
        share = torch.where(torch.isfinite(guess), share, good)
        reached = moved(share)
        guess = share * most / reached
        beyond = reached - most
        fits = beyond <= 0
        over = torch.where(fits, over / 2, beyond)
        under = torch.where(fits, beyond, under / 2)
        good, bad = torch.where(fits, share, good), torch.where(fits, bad, share)
    return torch.where(whole, 1.0, good)
