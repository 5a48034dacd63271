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
_COMPACT = 0.7  # share of unfinished programs below which they are moved together


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
        left = int(busy.sum())
        # A finished program stays as it is, so the others are moved together only now and then.
        if left <= _COMPACT * len(index):
            done = ~busy
            x[index[done]], dual[index[done]] = table.rows(done).answer()
            index, table = index[busy], table.rows(busy)
            if not left:
                return Solution(x, dual)
    x[index], dual[index] = table.answer()
    return Solution(x, dual)


class _Table:
    """The simplex tableau of each program: basis⁻¹ · columns, starting from artificial columns.

    The last line of `body` has the gains: what one unit of each variable adds. `side` is 1 where a
    variable may rise from 0, -1 where it may fall from its most, 0 where it is in the basis or
    cannot move.
    """

    def __init__(self, cost: Tensor, columns: Tensor, rhs: Tensor, most: Tensor) -> None:
        count, rows, self.given = *rhs.shape, cost.shape[1]
        self.sign = torch.where(rhs < 0, -1.0, 1.0).to(rhs.dtype)
        self.body = rhs.new_zeros(count, rows + 1, self.given + rows)
        self.body[:, :-1, : self.given] = columns * self.sign[..., None]
        self.body[:, :-1, self.given :] = torch.eye(rows, dtype=rhs.dtype, device=rhs.device)
        self.body[:, -1, : self.given], self.body[:, -1, self.given :] = cost, -_PENALTY
        self.body[:, -1] += _PENALTY * self.body[:, :-1].sum(1)
        self.value = rhs.abs()
        self.most = torch.cat([most, torch.zeros_like(rhs)], 1)  # artificial ones never return
        self.side = (self.most > 0).to(rhs.dtype)
        self.limit = torch.full_like(rhs, torch.inf)  # of the basic variables
        numbers = torch.arange(self.given, self.given + rows, device=rhs.device)
        self.basis = numbers.expand(count, -1).clone()
        self.program = torch.arange(count, device=rhs.device)

    def rows(self, kept: Tensor) -> _Table:
        """The programs kept (a mask)."""
        chosen = object.__new__(_Table)
        for name, value in vars(self).items():
            setattr(chosen, name, value[kept] if isinstance(value, Tensor) else value)
        chosen.program = self.program[: len(chosen.basis)]
        return chosen

    def answer(self) -> tuple[Tensor, Tensor]:
        """x and dual of the programs."""
        x = torch.where(self.side < 0, self.most, 0.0)
        x = x.scatter(1, self.basis, self.value.clamp_min(0))[:, : self.given]
        return x, -(self.body[:, -1, self.given :] + _PENALTY) * self.sign

    def step(self) -> Tensor:
        """Move one variable of each program; False (B,) where none improves."""
        # Rounded, so that ties are broken by position and not by the noise of padding.
        rate = (self.body[:, -1] * self.side).round_(decimals=_DIGITS)
        best, entering = rate.max(-1, keepdim=True)
        side, own = self.side.gather(1, entering), self.most.gather(1, entering)  # (B,1)
        column = self.body[self.program, :, entering[:, 0]]  # (B,r+1)
        fall = column[:, :-1] * side  # by how much the basic variables fall per unit
        speed = fall.abs()
        room = torch.where(fall > 0, self.value, self.limit - self.value).clamp_min_(0).div_(speed)
        room.masked_fill_(speed <= _SMALL, torch.inf)
        row = room.round(decimals=_DIGITS).argmin(-1, keepdim=True)
        reach = room.gather(1, row)
        flips = own <= reach
        length = torch.minimum(reach, own)
        moves = (best > _SMALL) & torch.isfinite(length)
        length = torch.where(moves, length, 0.0)
        self.value -= length * fall
        self.side.scatter_(1, entering, torch.where(moves & flips, -side, side))
        entered = torch.where(side < 0, own - length, length)
        self._pivot(moves & ~flips, row, entering, column, entered)
        return moves[:, 0]

    def _pivot(
        self, pivots: Tensor, row: Tensor, entering: Tensor, column: Tensor, entered: Tensor
    ) -> None:
        """Exchange the basic variable of `row` (B,1) with `entering` (B,1) where `pivots` (B,1).

        `column` (B,r+1) is that of the entering variable, and `entered` (B,1) its value.
        """
        leaving, pivot = self.basis.gather(1, row), column.gather(1, row)
        # A variable that was pushed up leaves at its most; an artificial one never returns.
        pushed = torch.where(pivot * self.side.gather(1, entering) < 0, -1.0, 1.0)
        pushed = pushed.to(pivot.dtype) * (self.most.gather(1, leaving) > 0)
        own = self.most.gather(1, entering)
        _put(self.side, leaving, pivots, pushed)
        _put(self.side, entering, pivots, torch.zeros_like(pivot))
        _put(self.value, row, pivots, entered)
        _put(self.limit, row, pivots, own)
        _put(self.basis, row, pivots, entering)
        line = self.body[self.program, row[:, 0]] / torch.where(pivots, pivot, 1.0)
        factor = column.scatter(1, row, pivot - 1) * pivots
        self.body -= factor[..., None] * line[:, None]  # not addcmul: it rounds differently


def _put(values: Tensor, index: Tensor, where: Tensor, new: Tensor) -> None:
    """Write `new` (B,1) at `index` (B,1) of the lines of values (B,n) for which `where` (B,1)."""
    values.scatter_(1, index, torch.where(where, new, values.gather(1, index)))
