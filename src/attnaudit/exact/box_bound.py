"""A bound on the distance of feasible attention in a box of weights; see `outer_bound`."""

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
_HEAVY = 4  # items whose range of weights is found by linear programs
_SAFETY = 1e-12  # relative to the terms of the bound


@dataclass
class BoxAnswer:
    """A bound on JSD in a box, its multipliers, and where the program has its maximum."""

    bound: Tensor  # (B,)
    g: Tensor  # (B,K-1)
    alpha: Tensor  # (B,N)
    item: Tensor  # (B,) where to split
    cut: Tensor  # (B,)
    error: Tensor  # (B,) of the chords at alpha


@dataclass
class BoxProblem:
    """Changes of the log-odds per item (scaled), and points of the region they may reach."""

    alpha: Tensor  # (B,N)
    change: Tensor  # (B,N,K-1)
    scale: Tensor  # (B,K-1)
    size: Tensor  # (B,) of the logits, for rounding
    region: Region
    points: Tensor  # (B,V,K-1)
    rays: Tensor  # (B,K,K-1)

    @classmethod
    def of(cls, given: Prepared, epsilon: Tensor) -> BoxProblem:
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

    def rows(self, index: Tensor) -> BoxProblem:
        """The examples at index."""
        return BoxProblem(
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
        heavy = self.alpha.argsort(dim=-1, descending=True, stable=True)[:, :count]  # (B,m)
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

    def solve(self, low: Tensor, high: Tensor, other_g: Tensor | None = None) -> BoxAnswer:
        """Bound JSD over the attentions in the box (B,N) that keep the prediction.

        The best of three multipliers counts: those of the program, `other_g` (B,K-1) and 0. In a
        box that is almost a point, those of the program can be anything.
        """
        slope, base = self._chords(low, high)
        g, alpha = self.program(slope, low, high)
        bound = self.certified(slope, g, low, high)
        for tried in (torch.zeros_like(g), other_g):
            if tried is not None:
                reached = self.certified(slope, tried, low, high)
                g = torch.where((reached < bound)[:, None], tried, g)
                bound = torch.minimum(bound, reached)
        bound = base.sum(-1) + bound
        error = base + slope * alpha - jsd_term(alpha, self.alpha)
        item = error.round(decimals=10).argmax(-1, keepdim=True)
        left, right = low.gather(1, item), high.gather(1, item)
        margin = 0.1 * (right - left)
        cut = torch.minimum(torch.maximum(alpha.gather(1, item), left + margin), right - margin)
        return BoxAnswer(bound, g, alpha, item[:, 0], cut[:, 0], error.sum(-1))

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
