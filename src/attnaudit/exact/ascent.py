"""Improve feasible attentions step by step, along the curved set of predictions within epsilon.

At an attention a, the distance and the class probabilities are replaced by their tangents. The best
attention under them is a linear program; some way towards it, drawn back to the set, is the next
attention if it is further.
"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.core import masking
from attnaudit.exact.inputs import Prepared, class_softmax
from attnaudit.exact.linear_program import Basis, maximise
from attnaudit.exact.polish import corrected
from attnaudit.exact.vertices import constraints_of

_STEPS = 14
_TRIAL, _KEPT = 2, 3  # after so many steps, only so many of each example go on
_SAME = 1e-3  # starts this close are one
_GAIN = 1e-8  # smaller gains are noise
_LENGTHS = (1.0, 0.3, 0.05)
_CLASSES = 7  # the most probable ones on their own, the others together
# The slope of the distance is infinite at weight 0: it is taken at this weight, in turn.
_LEAST = (1e-2, 1e-4)


def ascend(
    given: Prepared,
    epsilon: Tensor,
    starts: Tensor,
    *,
    classes: int = _CLASSES,
    kept: int = _KEPT,
) -> Tensor:
    """The furthest attention (B,N) reached from the feasible starts (B,M,N); epsilon (B,).

    `classes`: so many of the most probable ones count on their own, the others together. `kept`:
    from so many starts of each example all steps are taken, the others are only tried.
    """
    count = starts.shape[1]
    example = torch.arange(len(starts), device=starts.device).repeat_interleave(count)
    alpha = starts.flatten(0, 1).clone()
    far = statistics.jsd(starts, given.alpha[:, None]).flatten()
    since = torch.zeros_like(example)  # steps without progress
    constraints, basis = constraints_of(given), None
    useless = ~_useful(starts, given.within(starts, epsilon)).flatten()
    since[useless], far[useless] = len(_LEAST), -1.0
    for step in range(_STEPS):
        if step == _TRIAL:
            since = since.where(_among_furthest(far.view(-1, count), kept).flatten(), len(_LEAST))
        busy = (since < len(_LEAST)).nonzero()[:, 0]
        if not len(busy):
            break
        part, tolerance = given.rows(example[busy]), epsilon[example[busy]]
        start = None if basis is None else basis.rows(busy)
        slope = _slope(part, alpha[busy], _LEAST[step % len(_LEAST)])
        target, stopped = _target(part, tolerance, alpha[busy], slope, classes, start)
        if basis is None:
            basis = stopped.spread(busy, len(alpha))
        else:
            basis.columns[busy], basis.at_most[busy] = stopped.columns, stopped.at_most
        moved, reached = _towards(part, constraints[example[busy]], tolerance, alpha[busy], target)
        better = reached > far[busy] + _GAIN
        since[busy] = torch.where(better, 0, since[busy] + 1)
        alpha[busy[better]], far[busy[better]] = moved[better], reached[better]
    # Rounded: of equally far ones the first, whatever the noise of padding.
    best = far.view(-1, count).round(decimals=8).argmax(-1)
    return alpha.view_as(starts)[torch.arange(len(best), device=best.device), best]


def maxima(given: Prepared, epsilon: Tensor, values: Tensor) -> Tensor:
    """The attentions (B,M,N) of the largest mean values (M,N) over the tangents at the original."""
    count = len(values)
    example = torch.arange(len(given.alpha), device=values.device).repeat_interleave(count)
    part, value = given.rows(example), values.repeat(len(given.alpha), 1)
    target, _ = _target(part, epsilon[example], part.alpha, value, given.probs.shape[1], start=None)
    return target.view(-1, *values.shape)


def _slope(given: Prepared, alpha: Tensor, least: float) -> Tensor:
    """The slope (B,N) of the distance at alpha (B,N), as if all weights were at least `least`."""
    weight = alpha.clamp_min(least)
    return 0.5 * (2 * weight / (weight + given.alpha)).log()


def _useful(starts: Tensor, feasible: Tensor) -> Tensor:
    """Which starts (B,M,N) are feasible (B,M) and close to no earlier one that is: (B,M)."""
    equal = (starts[:, :, None] - starts[:, None]).abs().amax(-1) < _SAME
    return feasible & ~(equal & feasible[:, None]).tril(-1).any(-1)


def _among_furthest(far: Tensor, kept: int) -> Tensor:
    """Which (B,M) are among the `kept` furthest of their example, the first of equal ones."""
    ranks = far.round(decimals=8).argsort(dim=-1, descending=True, stable=True).argsort(-1)
    return ranks < kept


def _towards(
    given: Prepared, constraints: Tensor, epsilon: Tensor, alpha: Tensor, target: Tensor
) -> tuple[Tensor, Tensor]:
    """The furthest feasible attention (B,N) towards the target, and its distance (B,)."""
    lengths = torch.tensor(_LENGTHS, dtype=alpha.dtype, device=alpha.device)[:, None]
    candidates = alpha[:, None] + lengths * (target - alpha)[:, None]  # (B,lengths,N)
    candidates, _ = corrected(given, constraints, epsilon, candidates)
    reached = statistics.jsd(candidates, given.alpha[:, None])
    reached = reached.where(given.within(candidates, epsilon), -1.0)
    # Rounded: of equally far ones the first.
    best = reached.round(decimals=8).argmax(-1, keepdim=True)
    chosen = candidates.gather(1, best[..., None].expand(-1, 1, alpha.shape[1]))[:, 0]
    return chosen, reached.gather(1, best)[:, 0]


def _target(
    given: Prepared,
    epsilon: Tensor,
    alpha: Tensor,
    gain: Tensor,
    own: int,
    start: Basis | None,
) -> tuple[Tensor, Basis]:
    """The best attention (B,N) if probabilities were linear around alpha (B,N).

    `gain` (B,N): what a unit of weight is worth. `own`: how many classes count on their own. Also
    returned: the basis at which the program stops, to start the next one from.

    With p the original and p' the current probabilities, gains u and losses v of the classes:
    p' + slopes·(a - alpha) = p + u - v, Σ u <= epsilon, 0 <= v <= p.
    """
    now = class_softmax(given.logits_of(alpha))
    mean = given.readout @ now[..., None]  # (B,N,1)
    slopes = (now[:, None] * (given.readout - mean)).transpose(1, 2)  # (B,C,N)
    order = given.probs.argsort(dim=-1, descending=True, stable=True)
    original, now = _gathered(given.probs, order, own), _gathered(now, order, own)
    ordered = order[:, None].expand(-1, alpha.shape[1], -1)
    slopes = _gathered(slopes.transpose(1, 2), ordered, own).transpose(1, 2)
    slopes = slopes - slopes @ alpha[..., None]
    scale = slopes.abs().amax(2, keepdim=True).clamp_min(1e-12)
    count, classes, items = slopes.shape
    eye = torch.eye(classes, dtype=alpha.dtype, device=alpha.device) / scale
    columns = alpha.new_zeros(count, classes + 2, items + 2 * classes + 1)
    columns[:, :classes] = torch.cat([slopes / scale, -eye, eye, torch.zeros_like(scale)], 2)
    columns[:, classes, :items] = 1
    columns[:, classes + 1, items : items + classes] = 1
    columns[:, classes + 1, -1] = 1
    # In units of epsilon.
    columns[:, classes + 1] /= epsilon.clamp_min(1e-12)[:, None]
    rhs = torch.cat([(original - now) / scale[..., 0], torch.ones_like(now[:, :2])], 1)
    rhs[:, -1] = epsilon / epsilon.clamp_min(1e-12)
    free = torch.full_like(original, torch.inf)
    most = torch.cat([given.mask.to(alpha.dtype), free, original, free[:, :1]], 1)
    cost = torch.cat([masking.fill(gain, given.mask), torch.zeros_like(most[:, items:])], 1)
    solved = maximise(cost, columns, rhs, torch.zeros_like(most), most, start=start)
    weights = solved.x[:, :items]
    total = weights.sum(-1, keepdim=True)
    return torch.where(total > 0.5, weights / total.clamp_min(0.5), alpha), solved.basis


def _gathered(values: Tensor, order: Tensor, own: int) -> Tensor:
    """The values (…,C) of the first classes in this order, and the sum of the others, if any."""
    ranked = values.gather(-1, order)
    if ranked.shape[-1] <= own + 1:
        return ranked
    return torch.cat([ranked[..., :own], ranked[..., own:].sum(-1, keepdim=True)], -1)
