"""Half-spaces and slabs that contain every equivalent attention, and the furthest in each.

The smallest of these maxima is an upper bound of the furthest equivalent attention.
"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.exact.inputs import Prepared
from attnaudit.exact.slab import Vertex, furthest_in_slab

# Any subset of rivals gives a valid upper bound; the least probable ones hardly ever tighten it.
_MAX_RIVALS = 16


def relaxations(given: Prepared, epsilon: Tensor) -> list[Vertex]:
    """The furthest attention in each half-space or slab that contains every feasible one.

    Only the least of them counts: one beyond an earlier one may be less far than it could be.
    """
    p = given.probs
    rivals = masking.fill(p, _one_hot(given.predicted, p) == 0, -1.0).argsort(
        dim=-1, descending=True
    )
    predicted = _class_readout(given.readout, given.predicted)
    p_predicted = p.gather(1, given.predicted[:, None])[:, 0]
    vertices: list[Vertex] = []
    least = torch.full_like(p_predicted, torch.inf)  # a vertex beyond it bounds nothing
    for rank in range(min(p.shape[1] - 1, _MAX_RIVALS)):
        rival = rivals[:, rank]
        s = predicted - _class_readout(given.readout, rival)
        low, high = log_odds_range(given, epsilon, rival)
        slack = 1e-12 * (1 + s.abs())
        inside = (s >= low[:, None] - slack) & (s <= high[:, None] + slack)
        found = furthest_in_slab(given.alpha, s, given.mask, low, high, inside, least)
        least = torch.minimum(least, found.jsd)
        vertices.append(found)
    if p.shape[1] != 2:  # with two classes it adds nothing to the slab
        vertices.append(_against_the_rest(given, epsilon, predicted, p_predicted, least))
    return vertices


def _against_the_rest(
    given: Prepared, epsilon: Tensor, predicted: Tensor, p_predicted: Tensor, least: Tensor
) -> Vertex:
    """The furthest attention in the half-space given by all rivals together.

    p_y >= t means that the logsumexp of the rivals' log-odds is at most ln((1-t)/t). Any weights q
    give a linear lower bound, logsumexp(x) >= q·x + H(q) (Jensen); it is tight at the model's own
    probabilities of the rivals.
    """
    rivals = _one_hot(given.predicted, given.probs) == 0
    logits = (given.alpha[:, None] @ given.readout)[:, 0]
    q = masking.softmax(logits, rivals)
    s = (given.readout @ q[..., None])[..., 0] - predicted
    p_rest = masking.total(given.probs, rivals)  # not 1 - p_predicted: that loses small numbers
    high = _log_ratio(p_rest + epsilon, p_predicted - epsilon, otherwise=torch.inf)
    high = high + torch.special.xlogy(q, q).sum(-1)
    high = high.where(rivals.any(-1), torch.inf)  # a single class has no rivals
    low = torch.full_like(high, -torch.inf)
    inside = s <= high[:, None] + 1e-12 * (1 + s.abs())
    return furthest_in_slab(given.alpha, s, given.mask, low, high, inside, least)


def log_odds_range(given: Prepared, epsilon: Tensor, rival: Tensor) -> tuple[Tensor, Tensor]:
    """The extremes (B,) of the log-odds of the predicted class against a rival (B,).

    Each probability may change by at most epsilon (B,).
    """
    p_predicted, p_rival = (
        given.probs.gather(1, chosen[:, None])[:, 0] for chosen in (given.predicted, rival)
    )
    low = _log_ratio(p_predicted - epsilon, p_rival + epsilon, otherwise=-torch.inf)
    high = _log_ratio(p_predicted + epsilon, p_rival - epsilon, otherwise=torch.inf)
    return low, high


def _log_ratio(over: Tensor, under: Tensor, *, otherwise: float) -> Tensor:
    """ln(over / under); `otherwise`, which bounds nothing, where either is not positive."""
    defined = (over > 0) & (under > 0)
    return (over.where(defined, 1.0).log() - under.where(defined, 1.0).log()).where(
        defined, otherwise
    )


def _class_readout(readout: Tensor, chosen: Tensor) -> Tensor:
    """The column of each example's chosen class: (B,N)."""
    return readout.gather(2, chosen[:, None, None].expand(-1, readout.shape[1], 1))[..., 0]


def _one_hot(chosen: Tensor, like: Tensor) -> Tensor:
    return torch.nn.functional.one_hot(chosen, like.shape[1])
