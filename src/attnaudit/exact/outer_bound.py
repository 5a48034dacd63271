"""More than two classes: an upper bound on the distance, by branch and bound.

JSD(a, alpha) is a sum of convex functions of one weight each, so over a box of weights it is at
most its chords, which are linear. With any multipliers g of the log-odds,

    max JSD <= max_x g·x + max_a [chords(a) - g·log-odds(a)],

x over the predictions within epsilon and a over the box: both are closed forms. A linear program
proposes g; the bound holds whether or not it was solved well. The box whose bound is the largest is
split at the weight whose chord errs most, again and again.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.exact.inputs import Prepared
from attnaudit.exact.jsd import jsd_term
from attnaudit.exact.linear_program import maximise
from attnaudit.exact.tolerance import Region

_CLASSES = 7  # the most probable ones: leaving out constraints keeps a bound valid
_ADDED = 2  # points of the curved set added to its corners
_HEAVY = 4  # items whose range of weights is found by linear programs
_ROUNDS = 5
_AT_ONCE = 4  # boxes of an example that are split in one round
_CLOSE = 1e-4  # intervals this narrow are not split further
_SAFETY = 1e-12  # relative to the terms of the bound


@dataclass
class Outer:
    """No feasible attention is further than `upper`; `alpha` are far ones, nearly feasible."""

    upper: Tensor  # (B,)
    alpha: Tensor  # (B,M,N)


def outer_bound(given: Prepared, epsilon: Tensor, known: Tensor) -> Outer:
    """Bound the distance of attention that keeps the prediction within epsilon (B,).

    `known` (B,): the distance of a feasible attention; boxes that cannot exceed it are not split.
    """
    problem = _Problem.of(given, epsilon)
    low = torch.zeros_like(given.alpha)
    high = masking.fill(torch.ones_like(low), given.mask)
    low, high = problem.tightened(low, high)
    for _ in range(_ADDED):
        problem.add_point(problem.solve(low, high).g)
    low, high = problem.heavy_tightened(low, high)
    first = problem.solve(low, high)
    boxes = _Boxes(problem, low, high, first)
    proposals = [first.alpha]
    for _ in range(_ROUNDS):
        alpha = boxes.split(known)
        if alpha is None:
            break
        proposals.append(alpha)
    return Outer(boxes.upper(), torch.stack(proposals, 1))


@dataclass
class _Answer:
    """A bound on JSD in a box, the multipliers it rests on, and where the program has its maximum."""

    bound: Tensor  # (B,)
    g: Tensor  # (B,K-1)
    alpha: Tensor  # (B,N)
    item: Tensor  # (B,) where to split
    cut: Tensor  # (B,)


@dataclass
class _Problem:
    """Changes of the log-odds per item (scaled), and points of the region they may reach."""

    alpha: Tensor  # (B,N)
    change: Tensor  # (B,N,K-1)
    scale: Tensor  # (B,K-1)
    size: Tensor  # (B,) of the logits, for rounding
    region: Region
    points: Tensor  # (B,V,K-1)
    rays: Tensor  # (B,K,K-1)

    @classmethod
    def of(cls, given: Prepared, epsilon: Tensor) -> _Problem:
        logits = (given.alpha[:, None] @ given.readout)[:, 0]
        log_p = logits.log_softmax(-1)
        order = log_p.scatter(1, given.predicted[:, None], 1.0).argsort(
            dim=-1, descending=True, stable=True
        )[:, :_CLASSES]
        kept = given.readout.gather(2, order[:, None].expand(-1, given.alpha.shape[1], -1))
        odds = kept[..., 1:] - kept[..., :1]
        change = odds - (given.alpha[:, None] @ odds)
        change = masking.fill(change, given.mask[..., None].expand_as(change))
        scale = change.abs().amax(1).clamp_min(1e-12)
        region = Region(log_p.gather(1, order), epsilon + 2 * given.rounding())
        points, rays = region.corners()
        size = given.readout.abs().amax((1, 2))
        return cls(given.alpha, change, scale, size, region, points, rays)

    def rows(self, index: Tensor) -> _Problem:
        """The examples at index."""
        return _Problem(
            self.alpha[index],
            self.change[index],
            self.scale[index],
            self.size[index],
            self.region.rows(index),
            self.points[index],
            self.rays[index],
        )

    def add_point(self, g: Tensor) -> None:
        """Add the point of the region that is furthest in the direction g (B,K-1)."""
        self.points = torch.cat([self.points, self.region.furthest_point(g)[:, None]], 1)

    def tightened(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """The box with the weights no feasible attention has left out, from one log-odds each."""
        classes = self.rays.shape[2]
        eye = torch.eye(classes, dtype=low.dtype, device=low.device)
        pairs = [eye[i] - eye[j] for i in range(classes) for j in range(classes) if i != j]
        real = high > 0
        for direction in (*eye, *-eye, *pairs):
            g = self.region.allowed(direction.expand(len(low), -1))
            s = (self.change @ g[..., None])[..., 0]  # Σ a s <= most
            most = (self.region.support(g) + _SAFETY * (1 + self.size))[:, None]
            least, item = masking.fill(s, real, torch.inf).min(-1, keepdim=True)
            others = (
                masking.fill(s, real, torch.inf).scatter(1, item, torch.inf).amin(-1, keepdim=True)
            )
            # a s_n + (1 - a) least <= most
            above = s > least
            share = (most - least) / (s - least).where(above, torch.ones_like(s))
            high = torch.where(above & real, torch.minimum(high, share.clamp(0, 1)), high)
            # The only item below the bound has to pull the others down.
            pull = (others - most) / (others - least)
            pull = pull.where(torch.isfinite(others) & (others > most), torch.zeros_like(pull))
            low = torch.maximum(low, torch.zeros_like(low).scatter(1, item, pull.clamp(0, 1)))
        return torch.minimum(low, high), high

    def heavy_tightened(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """The same by linear programs, for the items whose chords err most: the most attended."""
        count = min(_HEAVY, low.shape[1])
        heavy = self.alpha.topk(count).indices  # (B,m)
        example = torch.arange(len(low), device=low.device)[:, None].expand_as(heavy).flatten()
        item, problem = heavy.flatten()[:, None], self.rows(example)
        for sign in (1.0, -1.0):
            slope = torch.zeros_like(low[example]).scatter(1, item, sign)
            g, _ = problem.program(slope, low[example], high[example])
            most = sign * problem.certified(slope, g, low[example], high[example])
            most = most.view_as(heavy)
            if sign > 0:
                high = high.scatter(1, heavy, torch.minimum(most, high.gather(1, heavy)))
            else:
                low = low.scatter(1, heavy, torch.maximum(most, low.gather(1, heavy)))
            high = torch.maximum(high, low)
        return low, high

    def solve(self, low: Tensor, high: Tensor) -> _Answer:
        """Bound JSD over the attentions in the box (B,N) that keep the prediction."""
        slope, base = self._chords(low, high)
        g, alpha = self.program(slope, low, high)
        bound = base.sum(-1) + self.certified(slope, g, low, high)
        error = base + slope * alpha - jsd_term(alpha, self.alpha)
        item = error.argmax(-1, keepdim=True)
        left, right = low.gather(1, item), high.gather(1, item)
        margin = 0.1 * (right - left)
        cut = torch.minimum(torch.maximum(alpha.gather(1, item), left + margin), right - margin)
        return _Answer(bound, g, alpha, item[:, 0], cut[:, 0])

    def program(self, slope: Tensor, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """Multipliers g (B,K-1) and attention (B,N) that maximise slope·a in the box."""
        change = (self.change / self.scale[:, None]).transpose(1, 2)
        targets = torch.cat([self.points, self.rays], 1) / self.scale[:, None]
        corners, rays = self.points.shape[1], self.rays.shape[1]
        items = low.shape[1]
        columns = low.new_zeros(len(low), change.shape[1] + 2, items + corners + rays)
        columns[:, :-2, :items], columns[:, :-2, items:] = change, -targets.transpose(1, 2)
        columns[:, -2, :items] = columns[:, -1, items : items + corners] = 1
        rhs = columns.new_ones(len(low), columns.shape[1])
        rhs[:, :-2] = -(change @ low[..., None])[..., 0]
        rhs[:, -2] -= low.sum(-1)
        usable = torch.where(self.rays.abs().sum(-1) > 0, torch.inf, 0.0)
        most = torch.cat([high - low, low.new_full((len(low), corners), torch.inf), usable], 1)
        cost = torch.cat([slope, slope.new_zeros(len(low), corners + rays)], 1)
        solved = maximise(cost, columns, rhs, most)
        alpha = low + solved.x[:, :items]
        alpha = alpha / alpha.sum(-1, keepdim=True).clamp_min(1e-300)
        return self.region.allowed(solved.dual[:, :-2] / self.scale), alpha

    def _chords(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """slope and base (B,N): base + slope·a >= what an item adds to JSD, in the box."""
        start, end = jsd_term(low, self.alpha), jsd_term(high, self.alpha)
        wide = high - low > 1e-9
        slope = torch.where(wide, (end - start) / (high - low).where(wide, 1.0), 0.0)
        return slope, torch.where(wide, start - slope * low, torch.maximum(start, end))

    def certified(self, slope: Tensor, g: Tensor, low: Tensor, high: Tensor) -> Tensor:
        """max_x g·x + max_a (slope - change g)·a over the box (B,); -inf if the box is empty."""
        pull = (self.change @ g[..., None])[..., 0]
        worth, order = (slope - pull).sort(-1, descending=True)
        width = (high - low).gather(1, order)
        left = 1 - low.sum(-1, keepdim=True)
        filled = torch.minimum(width, (left - width.cumsum(-1) + width).clamp_min(0))
        best = (worth * filled).sum(-1) + ((slope - pull) * low).sum(-1)
        safety = _SAFETY * (1 + self.size * g.abs().sum(-1))
        empty = (left[:, 0] < -1e-9) | (left[:, 0] > width.sum(-1) + 1e-9)
        return (best + self.region.support(g) + safety).masked_fill(empty, -torch.inf)


class _Boxes:
    """Boxes (M,B,N) that together hold every feasible attention, with their bounds (M,B)."""

    def __init__(self, problem: _Problem, low: Tensor, high: Tensor, first: _Answer) -> None:
        places = 1 + _ROUNDS * _AT_ONCE
        self.problem, self.used = problem, torch.ones_like(first.item)
        self.low, self.high = (side.expand(places, -1, -1).clone() for side in (low, high))
        self.bound = first.bound.new_full((places, len(low)), -torch.inf)
        self.cut, self.item = self.bound.clone(), torch.zeros_like(self.bound, dtype=torch.int64)
        self.bound[0], self.cut[0], self.item[0] = first.bound, first.cut, first.item

    def upper(self) -> Tensor:
        """The largest bound of each example (B,)."""
        return self.bound.amax(0)

    def split(self, known: Tensor) -> Tensor | None:
        """Split the worst boxes of every example; the furthest maximum (B,N) of their halves.

        None if no box can be further than `known` (B,).
        """
        ranked, order = self.bound.topk(_AT_ONCE, 0)
        rank, example = (ranked > known + _CLOSE).nonzero().unbind(1)
        if not len(example):
            return None
        place = order[rank, example]
        low, high, bound = (side[place, example] for side in (self.low, self.high, self.bound))
        item, cut = (value[place, example][:, None] for value in (self.item, self.cut))
        low = torch.cat([low, low.scatter(1, item, cut)])
        high = torch.cat([high.scatter(1, item, cut), high])
        place = torch.cat([place, self.used[example] + rank])
        self.used = self.used + torch.bincount(example, minlength=len(self.used))
        example = example.repeat(2)
        answer = self.problem.rows(example).solve(low, high)
        self.low[place, example], self.high[place, example] = low, high
        self.bound[place, example] = torch.minimum(answer.bound, bound.repeat(2))
        self.item[place, example], self.cut[place, example] = answer.item, answer.cut
        far = jsd_term(answer.alpha, self.problem.alpha[example]).sum(-1)
        furthest = far.new_full(known.shape, -1.0).scatter_reduce(0, example, far, "amax")
        chosen = (far == furthest[example]) & torch.isfinite(answer.bound)
        alpha = self.problem.alpha.clone()
        alpha[example[chosen]] = answer.alpha[chosen]
        return alpha
