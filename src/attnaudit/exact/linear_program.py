"""Many small linear programs at once, by the simplex method with bounded variables.

For programs with few rows and many columns. The caller must not rely on optimality: iterations are
capped, and a bound that must hold is to be computed from the dual values by weak duality.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

_PENALTY = 1e3  # per unit by which a row is missed
_SMALL = 1e-9
_DIGITS = 10


@dataclass
class Solution:
    """Values of the variables and of the rows' multipliers."""

    x: Tensor  # (B,n)
    dual: Tensor  # (B,r)


def maximise(
    cost: Tensor, columns: Tensor, rhs: Tensor, most: Tensor, *, max_steps: int = 80
) -> Solution:
    """Maximise cost·x subject to columns x = rhs and 0 <= x <= most.

    Parameters
    ----------
    cost, most : Tensor, (B,n)
        `most` may be infinite.
    columns : Tensor, (B,r,n)
    rhs : Tensor, (B,r)

    Examples
    --------
    The larger of two numbers, of which at most 0.7 may be taken:

    >>> one = torch.ones(1, 1, dtype=torch.float64)
    >>> cost, most = torch.tensor([[1.0, 2.0]]).double(), torch.tensor([[1.0, 0.7]]).double()
    >>> maximise(cost, torch.ones(1, 1, 2).double(), one, most).x
    tensor([[0.3000, 0.7000]], dtype=torch.float64)
    """
    table = _Table(cost, columns, rhs, most)
    x, dual = torch.zeros_like(cost), torch.zeros_like(rhs)
    index = torch.arange(len(cost), device=cost.device)
    for _ in range(max_steps):
        busy = table.step()
        if not busy.all():
            done = ~busy
            x[index[done]], dual[index[done]] = table.answer(done)
            index, table = index[busy], table.rows(busy)
            if not len(index):
                return Solution(x, dual)
    everything = torch.ones(len(index), dtype=torch.bool, device=cost.device)
    x[index], dual[index] = table.answer(everything)
    return Solution(x, dual)


class _Table:
    """The simplex tableau of each program: basis⁻¹ · columns, starting from artificial columns."""

    def __init__(self, cost: Tensor, columns: Tensor, rhs: Tensor, most: Tensor) -> None:
        count, rows, self.given = *rhs.shape, cost.shape[1]
        self.sign = torch.where(rhs < 0, -1.0, 1.0).to(rhs.dtype)
        artificial = torch.eye(rows, dtype=rhs.dtype, device=rhs.device).expand(count, -1, -1)
        self.body = torch.cat([columns * self.sign[..., None], artificial], 2)
        self.value = rhs.abs()
        self.gain = torch.cat([cost, torch.full_like(rhs, -_PENALTY)], 1)
        self.gain = self.gain + _PENALTY * self.body.sum(1)
        self.most = torch.cat([most, torch.zeros_like(rhs)], 1)  # artificial ones never return
        self.limit = torch.full_like(rhs, torch.inf)  # of the basic variables
        numbers = torch.arange(self.given, self.given + rows, device=rhs.device)
        self.basis = numbers.expand(count, -1).clone()
        self.full = torch.zeros_like(self.most, dtype=torch.bool)  # out of the basis, at its most

    def rows(self, kept: Tensor) -> _Table:
        """The programs kept (a mask)."""
        chosen = object.__new__(_Table)
        for name, value in vars(self).items():
            setattr(chosen, name, value[kept] if isinstance(value, Tensor) else value)
        return chosen

    def answer(self, wanted: Tensor) -> tuple[Tensor, Tensor]:
        """x and dual of the programs wanted (a mask)."""
        x = torch.where(self.full, self.most, 0.0)[wanted]
        x = x.scatter(1, self.basis[wanted], self.value[wanted].clamp_min(0))[:, : self.given]
        dual = -(self.gain[wanted, self.given :] + _PENALTY) * self.sign[wanted]
        return x, dual

    def step(self) -> Tensor:
        """Move one variable of each program; False (B,) where none improves."""
        usable = self.most > 0
        rate = torch.where(self.full, -self.gain, self.gain)
        # Rounded, so that ties are broken by position and not by the noise of padding.
        rate = torch.where(usable, rate.round(decimals=_DIGITS), -1.0).scatter(1, self.basis, -1.0)
        best, entering = rate.max(-1, keepdim=True)
        busy = best[:, 0] > _SMALL
        was_full = self.full.gather(1, entering)  # (B,1)
        direction = torch.where(was_full, -1.0, 1.0).to(self.value.dtype)
        column = self.body.gather(2, entering[:, None].expand(-1, self.body.shape[1], 1))[..., 0]
        fall = column * direction  # by how much the basic variables fall per unit
        room = torch.where(fall > _SMALL, self.value.clamp_min(0) / fall, torch.inf)
        headroom = (self.limit - self.value).clamp_min(0)
        room = torch.where(fall < -_SMALL, headroom / -fall, room)
        row = room.round(decimals=_DIGITS).argmin(-1, keepdim=True)
        length = room.gather(1, row)
        own = self.most.gather(1, entering)
        flips = own <= length
        length = torch.minimum(length, own)
        moves = busy[:, None] & torch.isfinite(length)
        length = torch.where(moves, length, 0.0)
        self.value = self.value - length * fall
        self.full = self.full.scatter(1, entering, was_full ^ (moves & flips))
        self._pivot(moves & ~flips, row, entering, column, was_full, own, length, fall)
        return busy & moves[:, 0]

    def _pivot(
        self,
        pivots: Tensor,
        row: Tensor,
        entering: Tensor,
        column: Tensor,
        was_full: Tensor,
        own: Tensor,
        length: Tensor,
        fall: Tensor,
    ) -> None:
        """Exchange the basic variable of `row` (B,1) with `entering` (B,1) where `pivots` (B,1)."""
        leaving = self.basis.gather(1, row)
        leaves_full = pivots & (fall.gather(1, row) < 0)
        self.full = self.full.scatter(1, leaving, self.full.gather(1, leaving) | leaves_full)
        self.full = self.full.scatter(1, entering, self.full.gather(1, entering) & ~pivots)
        entered = torch.where(was_full, own - length, length)
        self.value = self.value.scatter(
            1, row, torch.where(pivots, entered, self.value.gather(1, row))
        )
        self.limit = self.limit.scatter(1, row, torch.where(pivots, own, self.limit.gather(1, row)))
        self.basis = self.basis.scatter(1, row, torch.where(pivots, entering, leaving))
        wide = row[..., None].expand(-1, 1, self.body.shape[2])
        pivot = column.gather(1, row)
        line = self.body.gather(1, wide) / torch.where(pivots, pivot, 1.0)[..., None]
        factor = torch.where(pivots, column, 0.0)
        factor = factor.scatter(1, row, torch.where(pivots, pivot - 1, 0.0))
        self.body = self.body - factor[..., None] * line
        slope = torch.where(pivots, self.gain.gather(1, entering), 0.0)
        self.gain = self.gain - slope * line[:, 0]
