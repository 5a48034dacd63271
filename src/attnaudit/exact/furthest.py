"""The furthest equivalent attention: how different could the heatmap have been, with the same prediction?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.errors import InputError
from attnaudit.exact.inputs import ROUNDING, Prepared, chunks, prepare
from attnaudit.exact.slab import Vertex, furthest_in_slab
from attnaudit.exact.small_support import search

# Any subset of rivals gives a valid upper bound; the least probable ones hardly ever bind.
_MOST_RIVALS = 16


@dataclass(frozen=True, eq=False)
class Furthest:
    """jsd <= the true maximum <= upper; equal where exact. An example with an empty mask has NaN and exact = False."""

    alpha: Tensor  # (B,N) the attention found, feasible within epsilon
    jsd: Tensor  # (B,) its distance from the original, nats, at most ln 2
    upper: Tensor  # (B,) certified: no equivalent attention is further than this
    exact: Tensor  # (B,) bool
    probs: Tensor  # (B,C) the prediction under it


def furthest(
    alpha: Tensor,
    readout: Tensor,
    mask: Tensor,
    *,
    epsilon: float = 0.01,
    classes: Tensor | None = None,
) -> Furthest:
    """max JSD(a, alpha) over attentions a with TVD(p(a), p(alpha)) <= epsilon (Jain & Wallace 2019, eq. 1).

    Two candidate classes: the true maximum. More: TVD <= epsilon bounds every log-odds, so each rival of the predicted class gives a slab
    that holds every feasible attention, and the least of their maxima is an upper bound; the lower bound is the best feasible
    attention found. High: very different heatmaps tell the same story. Low: the prediction pins the attention down.
    """
    if not 0 <= epsilon <= 1:
        raise InputError(
            f"epsilon is a distance between probabilities, from 0 to 1, got {epsilon}."
        )
    given = prepare(alpha, readout, mask, classes)
    found, jsd, upper = (
        given.alpha.clone(),
        torch.zeros_like(given.probs[:, 0]),
        torch.zeros_like(given.probs[:, 0]),
    )
    for at, part in _same_number_of_candidates(given):
        for piece in chunks(len(at), part.alpha.shape[1] * part.probs.shape[1] * 32, limit=2**23):
            found[at[piece]], jsd[at[piece]], upper[at[piece]] = _furthest(
                part.rows(piece), epsilon
            )
    exact = (jsd >= upper - 1e-12) & ~given.empty
    jsd, upper = (value.masked_fill(given.empty, torch.nan) for value in (jsd, upper))
    as_given = alpha.dtype
    return Furthest(
        found.to(as_given),
        jsd.to(as_given),
        upper.to(as_given),
        exact,
        given.probs_of(found).to(as_given),
    )


def _same_number_of_candidates(given: Prepared) -> Iterator[tuple[Tensor, Prepared]]:
    """Groups of examples with only their candidate classes left, so that nothing below needs to know of others."""
    if given.classes is None:
        yield torch.arange(len(given.alpha), device=given.alpha.device), given
        return
    counts = given.classes.sum(-1)
    for count in counts.unique().tolist():
        at = (counts == count).nonzero()[:, 0]
        columns = (
            given.classes[at]
            .nonzero()[:, 1]
            .view(len(at), 1, count)
            .expand(-1, given.alpha.shape[1], -1)
        )
        yield at, prepare(given.alpha[at], given.readout[at].gather(2, columns), given.mask[at])


def _furthest(given: Prepared, epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """(attention, its JSD, upper bound)"""
    lower = _Best(given, epsilon)
    lower.offer(given.alpha, torch.zeros_like(given.probs[:, 0]))
    upper = torch.full_like(given.probs[:, 0], torch.inf)
    for vertex in _relaxations(given, epsilon):
        upper = torch.minimum(upper, vertex.jsd)
        lower.offer(vertex.dense(given.alpha.shape[1]), vertex.jsd)
    open_ = (lower.jsd < upper - 1e-12).nonzero()[:, 0]
    if len(open_):
        better = search(given.rows(open_), epsilon, lower.alpha[open_])
        lower.offer_at(open_, *better)
    return lower.alpha, lower.jsd, torch.maximum(upper, lower.jsd)


class _Best:
    """The furthest feasible attention seen so far."""

    def __init__(self, given: Prepared, epsilon: float) -> None:
        self.given, self.epsilon = given, epsilon
        self.alpha, self.jsd = given.alpha.clone(), torch.full_like(given.probs[:, 0], -1.0)

    def offer(self, alpha: Tensor, jsd: Tensor) -> None:
        self.offer_at(torch.arange(len(alpha), device=alpha.device), alpha, jsd)

    def offer_at(self, at: Tensor, alpha: Tensor, jsd: Tensor) -> None:
        given = self.given.rows(at)
        moved = 0.5 * (given.probs_of(alpha) - given.probs).abs().sum(-1)
        better = (moved <= self.epsilon + ROUNDING) & (jsd > self.jsd[at])
        self.alpha[at[better]], self.jsd[at[better]] = alpha[better], jsd[better]


def _relaxations(given: Prepared, epsilon: float) -> list[Vertex]:
    """The furthest attention in each half-space or slab that is known to hold every feasible one."""
    p = given.probs
    rivals = masking.fill(p, _one_hot(given.predicted, p) == 0, -1.0).argsort(
        dim=-1, descending=True
    )
    mine = _class_readout(given.readout, given.predicted)
    p_mine = p.gather(1, given.predicted[:, None])[:, 0]
    vertices = []
    for rank in range(min(p.shape[1] - 1, _MOST_RIVALS)):
        rival = rivals[:, rank]
        p_rival = p.gather(1, rival[:, None])[:, 0]
        s = mine - _class_readout(given.readout, rival)
        # The extremes of the log-odds when each probability moves by at most epsilon.
        low = _log_ratio(p_mine - epsilon, p_rival + epsilon, otherwise=-torch.inf)
        high = _log_ratio(p_mine + epsilon, p_rival - epsilon, otherwise=torch.inf)
        slack = 1e-12 * (1 + s.abs())
        inside = (s >= low[:, None] - slack) & (s <= high[:, None] + slack)
        vertices.append(furthest_in_slab(given.alpha, s, given.mask, low, high, inside))
    if p.shape[1] != 2:  # with two classes it says no more than the slab
        vertices.append(_against_the_rest(given, epsilon, mine, p_mine))
    return vertices


def _against_the_rest(given: Prepared, epsilon: float, mine: Tensor, p_mine: Tensor) -> Vertex:
    """p_y >= t means logsumexp of the rivals' log-odds <= ln((1-t)/t), and any weights q give a linear bound from below:

    logsumexp(x) >= q·x + H(q) (Jensen), tight at the model's own rivals q: one more half-space that holds every feasible attention.
    """
    rivals = _one_hot(given.predicted, given.probs) == 0
    logits = (given.alpha[:, None] @ given.readout)[:, 0]
    q = masking.softmax(logits, rivals)
    s = (given.readout @ q[..., None])[..., 0] - mine
    p_rest = masking.total(given.probs, rivals)  # not 1 - p_mine, which loses small numbers
    high = _log_ratio(
        p_rest + epsilon, p_mine - epsilon, otherwise=torch.inf
    ) + torch.special.xlogy(q, q).sum(-1)
    high = high.where(rivals.any(-1), torch.inf)  # a lone class has no rest to bound it
    low = torch.full_like(high, -torch.inf)
    inside = s <= high[:, None] + 1e-12 * (1 + s.abs())
    return furthest_in_slab(given.alpha, s, given.mask, low, high, inside)


def _log_ratio(over: Tensor, under: Tensor, *, otherwise: float) -> Tensor:
    """ln(over / under); `otherwise`, which is no bound at all, where one of them is not positive."""
    defined = (over > 0) & (under > 0)
    return (over.where(defined, 1.0).log() - under.where(defined, 1.0).log()).where(
        defined, otherwise
    )


def _class_readout(readout: Tensor, chosen: Tensor) -> Tensor:
    """(B,N): the column of each example's chosen class."""
    return readout.gather(2, chosen[:, None, None].expand(-1, readout.shape[1], 1))[..., 0]


def _one_hot(chosen: Tensor, like: Tensor) -> Tensor:
    return torch.nn.functional.one_hot(chosen, like.shape[1])
