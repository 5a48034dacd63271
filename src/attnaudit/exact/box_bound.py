"""A bound on the distance of feasible attention in a box of weights; see `outer_bound`."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.exact.inputs import Prepared
from attnaudit.exact.jsd import jsd_term
from attnaudit.exact.linear_program import Basis, maximise
from attnaudit.exact.tolerance import Region

_CLASSES = 7  # the most probable ones: leaving out constraints keeps a bound valid
_HEAVY = 4  # items whose range of weights is found by linear programs
_SAFETY = 1e-12  # relative to the terms of the bound


@dataclass
class BoxAnswer:
    """A bound on JSD in a box, its multipliers, and where the program has its maximum."""

    bound: Tensor  # (B,)
    y: Tensor  # (B,K)
    basis: Basis
    alpha: Tensor  # (B,N)
    item: Tensor  # (B,) where to split
    cut: Tensor  # (B,)
    error: Tensor  # (B,) of the chords at alpha


@dataclass
class BoxProblem:
    """Changes of the log-odds per item (scaled), and points of the region they may reach.

    The multipliers y (B,K) of a bound are g, of the K-1 log-odds, and that of the sum of weights.
    """

    alpha: Tensor  # (B,N)
    change: Tensor  # (B,N,K-1)
    scale: Tensor  # (B,K-1)
    size: Tensor  # (B,) of the logits, for rounding
    region: Region
    columns: Tensor  # (B,K+1,N+rays+points) of the program
    most: Tensor  # (B,rays+points) of its variables that are no weights

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
        size = given.readout.abs().amax((1, 2))
        points, rays = region.corners()
        targets = torch.cat([rays, points], 1) / scale[:, None]
        items = given.alpha.shape[1]
        columns = change.new_zeros(len(change), scale.shape[1] + 2, items + targets.shape[1])
        columns[:, :-2, :items] = (change / scale[:, None]).transpose(1, 2)
        columns[:, :-2, items:] = -targets.transpose(1, 2)
        columns[:, -2, :items] = columns[:, -1, items + rays.shape[1] :] = 1
        most = torch.full_like(targets[..., 0], torch.inf)
        most[:, : rays.shape[1]] = torch.where(rays.abs().sum(-1) > 0, torch.inf, 0.0)
        return cls(given.alpha, change, scale, size, region, columns, most)

    def rows(self, index: Tensor) -> BoxProblem:
        """The examples at index."""
        return BoxProblem(
            self.alpha[index],
            self.change[index],
            self.scale[index],
            self.size[index],
            self.region.rows(index),
            self.columns[index],
            self.most[index],
        )

    def add_point(self, y: Tensor) -> None:
        """Add the point of the region that is furthest in the direction of y (B,K)."""
        point = self.region.furthest_point(y[:, :-1]) / self.scale
        column = torch.cat([-point, torch.zeros_like(y[:, :1]), torch.ones_like(y[:, :1])], 1)
        self.columns = torch.cat([self.columns, column[..., None]], 2)
        self.most = torch.nn.functional.pad(self.most, (0, 1), value=torch.inf)

    def tightened(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """The box with the weights no feasible attention has left out, from one log-odds each."""
        classes = self.scale.shape[1]
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

    def heavy_tightened(self, low: Tensor, high: Tensor, start: Basis) -> tuple[Tensor, Tensor]:
        """The same by linear programs, for the items whose chords err most: the most attended.

        `start` is the basis of a program over this box.
        """
        count = min(_HEAVY, low.shape[1])
        heavy = self.alpha.argsort(dim=-1, descending=True, stable=True)[:, :count]  # (B,m)
        example = torch.arange(len(low), device=low.device)[:, None].expand_as(heavy).flatten()
        item, problem = heavy.flatten()[:, None], self.rows(example)
        basis = start.rows(example)
        for sign in (1.0, -1.0):
            slope = torch.zeros_like(low[example]).scatter(1, item, sign)
            y, _, basis = problem.program(slope, low[example], high[example], basis)
            most = sign * problem.certified(slope, y, low[example], high[example])
            most = most.view_as(heavy)
            if sign > 0:
                high = high.scatter(1, heavy, torch.minimum(most, high.gather(1, heavy)))
            else:
                low = low.scatter(1, heavy, torch.maximum(most, low.gather(1, heavy)))
            high = torch.maximum(high, low)
        return low, high

    def solve(
        self,
        low: Tensor,
        high: Tensor,
        *,
        start: Basis | None = None,
        other_y: Tensor | None = None,
    ) -> BoxAnswer:
        """Bound JSD over the attentions in the box (B,N) that keep the prediction.

        `start` and `other_y` (B,K) are those of a box that holds this one: the program starts from
        its basis, and the better of the two multipliers counts.
        """
        slope, base = self._chords(low, high)
        y, alpha, basis = self.program(slope, low, high, start)
        bound = self.certified(slope, y, low, high)
        if other_y is not None:
            reached = self.certified(slope, other_y, low, high)
            y = torch.where((reached < bound)[:, None], other_y, y)
            bound = torch.minimum(bound, reached)
        bound = base.sum(-1) + bound
        error = base + slope * alpha - jsd_term(alpha, self.alpha)
        item = error.round(decimals=10).argmax(-1, keepdim=True)
        left, right = low.gather(1, item), high.gather(1, item)
        margin = 0.1 * (right - left)
        cut = torch.minimum(torch.maximum(alpha.gather(1, item), left + margin), right - margin)
        return BoxAnswer(bound, y, basis, alpha, item[:, 0], cut[:, 0], error.sum(-1))

    def program(
        self, slope: Tensor, low: Tensor, high: Tensor, start: Basis | None
    ) -> tuple[Tensor, Tensor, Basis]:
        """Multipliers (B,K) and attention (B,N) that maximise slope·a in the box, and the basis."""
        items = low.shape[1]
        rhs = self.columns.new_zeros(self.columns.shape[:2])
        rhs[:, -2:] = 1
        others = torch.zeros_like(self.most)
        least, most = torch.cat([low, others], 1), torch.cat([high, self.most], 1)
        cost = torch.cat([slope, others], 1)
        solved = maximise(cost, self.columns, rhs, least, most, start=start)
        alpha = solved.x[:, :items]
        alpha = alpha / alpha.sum(-1, keepdim=True).clamp_min(1e-300)
        g = self.region.allowed(solved.dual[:, :-2] / self.scale)
        total = torch.nan_to_num(solved.dual[:, -2:-1], 0.0, 0.0, 0.0)
        return torch.cat([g, total], 1), alpha, solved.basis

    def _chords(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """slope and base (B,N): base + slope·a >= what an item adds to JSD, in the box."""
        start, end = jsd_term(low, self.alpha), jsd_term(high, self.alpha)
        wide = high - low > 1e-9
        slope = torch.where(wide, (end - start) / (high - low).where(wide, 1.0), 0.0)
        return slope, torch.where(wide, start - slope * low, torch.maximum(start, end))

    def certified(self, slope: Tensor, y: Tensor, low: Tensor, high: Tensor) -> Tensor:
        """A bound (B,) on slope·a in the box, for any multipliers; -inf if the box is empty.

        max_x g·x + max_a (slope - change g)·a, and the weights add up to 1: with any multiplier of
        their sum, every weight goes to the better end of its range.
        """
        g, total = y[:, :-1], y[:, -1:]
        worth = slope - (self.change @ g[..., None])[..., 0] - total
        best = total[:, 0] + torch.maximum(worth * low, worth * high).sum(-1)
        safety = _SAFETY * (1 + total[:, 0].abs() + self.size * g.abs().sum(-1))
        empty = (low.sum(-1) > 1 + 1e-9) | (high.sum(-1) < 1 - 1e-9)
        return (best + self.region.support(g) + safety).masked_fill(empty, -torch.inf)
