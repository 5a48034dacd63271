"""Vertices of the set of attentions with exactly the same log-odds, for more than two classes.

They satisfy A x = A alpha, x >= 0, with C rows in A (C - 1 log-odds and the sum), so a vertex has
at most C items. JSD is convex: moving to a further neighbouring vertex again and again reaches a
local maximum. All examples move at once.
"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.exact.inputs import Prepared
from attnaudit.exact.jsd import expanded_jsd_term

_MAX_STEPS = 60
_LARGEST = 1e8  # entries of an inverse; beyond, the matrix is taken for singular


def far_vertex(given: Prepared, priority: Tensor, *, start: Tensor | None = None) -> Tensor:
    """A vertex (B,N) far from alpha; items of high priority (B,N) lose their weight first.

    It has the log-odds of `start` (B,N), alpha if omitted, and is no nearer than it.
    """
    constraints = constraints_of(given)
    start = given.alpha if start is None else start
    x = _shed(given, constraints, masking.fill(priority, given.mask, -torch.inf), start)
    walking = torch.arange(len(x), device=x.device)
    for _ in range(_MAX_STEPS):
        x[walking], moved = _walk(given.rows(walking), constraints[walking], x[walking])
        walking = walking[moved]
        if not len(walking):
            break
    return x


def constraints_of(given: Prepared) -> Tensor:
    """A (B,C,N): the log-odds of every class against the predicted one, whose own row is all 1."""
    chosen = given.predicted[:, None, None].expand(-1, given.alpha.shape[1], 1)
    odds = given.readout - given.readout.gather(2, chosen)
    # Rows of similar size keep the small linear systems well conditioned.
    odds = odds / odds.abs().amax(1, keepdim=True).clamp_min(1e-12)
    return odds.scatter(2, chosen, 1.0).transpose(1, 2)


def _shed(given: Prepared, constraints: Tensor, priority: Tensor, start: Tensor) -> Tensor:
    """Go from start (B,N) to a vertex.

    Take C + 1 items with weight and move along their null direction to the further end, where one
    of them has lost its weight; repeat.
    """
    x, alpha = start.clone(), given.alpha
    classes, items = constraints.shape[1:]
    if items <= classes:
        return x
    for _ in range(items - classes):
        active = (x > 0) & given.mask
        unfinished = (active.sum(-1) > classes).nonzero()[:, 0]
        if not len(unfinished):
            break
        picked = masking.fill(priority, active, -torch.inf)[unfinished].topk(classes + 1).indices
        columns = constraints[unfinished].gather(2, picked[:, None].expand(-1, classes, -1))
        # Orthogonal to all rows, of whatever rank they are.
        null = torch.linalg.qr(columns.transpose(1, 2), mode="complete").Q[..., -1]
        now, was = x[unfinished].gather(1, picked), alpha[unfinished].gather(1, picked)
        ends = torch.stack([_to_the_edge(now, null), _to_the_edge(now, -null)])
        gain = expanded_jsd_term(ends, was).sum(-1)
        x[unfinished] = x[unfinished].scatter(
            1, picked, torch.where((gain[0] >= gain[1])[:, None], ends[0], ends[1])
        )
    return x


def _to_the_edge(x: Tensor, direction: Tensor) -> Tensor:
    """x + step·direction with the longest step to weights >= 0; one becomes exactly 0."""
    room = torch.where(direction < -1e-12, x / -direction, torch.inf)
    step, item = room.min(-1, keepdim=True)
    moved = x + step.where(torch.isfinite(step), 0.0) * direction
    return moved.clamp_min(0).scatter(1, item, 0.0)


def _inverse(columns: Tensor) -> Tensor:
    """The inverse (B,m,C) of the columns (B,C,m), the pseudo-inverse where there is none."""
    if columns.shape[1] != columns.shape[2]:
        return torch.linalg.pinv(columns)
    inverse = torch.linalg.inv_ex(columns).inverse
    singular = ~(inverse.abs().amax((1, 2)) < _LARGEST)  # True if NaN
    if singular.any():
        inverse[singular] = torch.linalg.pinv(columns[singular])
    return inverse


def _walk(given: Prepared, constraints: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Move to the furthest neighbouring vertex, if further: (x, which examples (B,) moved)."""
    classes = constraints.shape[1]
    # Real items first, whatever their weight: a masked one in the basis must not gain any.
    basis = masking.fill(x, given.mask, -1.0).topk(min(classes, x.shape[1])).indices
    real = given.mask.gather(1, basis)[..., None]
    columns = constraints.gather(2, basis[:, None].expand(-1, classes, -1))
    # (B,C,N): how the weights of the basis change as each item gains weight.
    direction = -(_inverse(columns) @ constraints)
    exact = (columns @ direction + constraints).abs().amax(1) < 1e-9
    now, was = x.gather(1, basis)[..., None], given.alpha.gather(1, basis)[..., None]
    room = torch.where(direction < -1e-12, now / -direction, torch.inf)
    room = torch.where(real | (direction.abs() < 1e-12), room, 0.0)
    step = room.amin(1)
    inside = torch.zeros_like(given.mask).scatter(1, basis, True)
    allowed = given.mask & ~inside & exact & torch.isfinite(step)
    step = masking.fill(step, allowed)
    after = (now + step[:, None] * direction).clamp_min(0)
    gain = (expanded_jsd_term(after, was) - expanded_jsd_term(now, was)).sum(1)
    gain = (
        gain
        + expanded_jsd_term(step, given.alpha)
        - expanded_jsd_term(torch.zeros_like(step), given.alpha)
    )
    best, item = masking.fill(gain, allowed, -1.0).max(-1)
    better = best > 1e-9
    weights = after.gather(2, item[:, None, None].expand(-1, after.shape[1], 1))[..., 0]
    moved = torch.zeros_like(x).scatter(1, basis, weights)
    moved = moved.scatter(1, item[:, None], step.gather(1, item[:, None]))
    return torch.where(better[:, None], moved, x), better
