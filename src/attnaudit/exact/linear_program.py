"""Many small linear programs at once, by the simplex method with bounded variables.

For programs with few rows and many columns. The caller must not rely on optimality: iterations are
capped, and a bound that must hold is to be computed from the dual values by weak duality.

A program that resembles a solved one starts from its basis and needs a few steps only. A basic
variable outside its bounds is driven back to them by a penalty, so that any basis will do; without
one, each row starts with an artificial variable that has to be 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

_PENALTY = 1e3  # per unit by which a variable is out of its bounds
_SMALL = 1e-9
_DIGITS = 10
_COMPACT = 0.7  # share of unfinished programs below which they are moved together
_LARGEST = 1e8  # entries of the inverse of a basis; beyond, it is taken for singular


@dataclass
class Basis:
    """Where a program has stopped: its basic variables, and the others that are at their most."""

    columns: Tensor  # (B,r); n + i is the artificial variable of row i
    at_most: Tensor  # (B,n) bool

    def rows(self, index: Tensor | tuple[Tensor, ...]) -> Basis:
        """The programs at index."""
        return Basis(self.columns[index], self.at_most[index])

    def spread(self, index: Tensor, count: int) -> Basis:
        """So many bases, these ones at index, the others 0."""
        columns = self.columns.new_zeros(count, self.columns.shape[1])
        at_most = self.at_most.new_zeros(count, self.at_most.shape[1])
        columns[index], at_most[index] = self.columns, self.at_most
        return Basis(columns, at_most)

    def with_one_more(self) -> Basis:
        """The same basis after another column has been added behind the others."""
        given = self.at_most.shape[1]
        columns = self.columns + (self.columns >= given)  # the artificial ones move on
        return Basis(columns, torch.nn.functional.pad(self.at_most, (0, 1)))


@dataclass
class Solution:
    """Values of the variables and of the rows' multipliers."""

    x: Tensor  # (B,n)
    dual: Tensor  # (B,r)
    basis: Basis


def maximise(
    cost: Tensor,
    columns: Tensor,
    rhs: Tensor,
    least: Tensor,
    most: Tensor,
    *,
    start: Basis | None = None,
    max_steps: int = 80,
) -> Solution:
    """Maximise cost·x subject to columns x = rhs and least <= x <= most.

    Parameters
    ----------
    cost, least, most : Tensor, (B,n)
        `most` may be infinite.
    columns : Tensor, (B,r,n)
    rhs : Tensor, (B,r)
    start : Basis, optional
        That of similar programs. One that is singular is not used.

    Examples
    --------
    The larger of two numbers, of which at most 0.7 may be taken:

    >>> one = torch.ones(1, 1, dtype=torch.float64)
    >>> cost, most = torch.tensor([[1.0, 2.0]]).double(), torch.tensor([[1.0, 0.7]]).double()
    >>> maximise(cost, torch.ones(1, 1, 2).double(), one, 0 * most, most).x
    tensor([[0.3000, 0.7000]], dtype=torch.float64)
    """
    table = _Table(cost, columns, rhs, least, most, start)
    count, rows = table.basis.shape
    x = table.most.new_zeros(count, table.given)
    dual, basis = x.new_zeros(count, rows), torch.zeros_like(table.basis)
    at_most = torch.zeros_like(x, dtype=torch.bool)
    index = table.program
    for step in range(max_steps):
        busy = table.step()
        left = int(busy.sum())
        # A finished program stays as it is, so the others are moved together only now and then.
        if left <= _COMPACT * len(index) or step == max_steps - 1:
            done = ~busy if step < max_steps - 1 else torch.ones_like(busy)
            kept = index[done]
            x[kept], dual[kept], basis[kept], at_most[kept] = table.answer(done)
            if not left:
                break
            index, table = index[busy], table.rows(busy)
    return Solution(x, dual, Basis(basis, at_most))


class _Table:
    """The simplex tableau of each program: basis⁻¹ · [columns, artificial columns].

    The last line of `body` has the gains: what one unit of each variable adds. `side` is 1 where a
    variable may rise from its least, -1 where it may fall from its most, 0 where it is in the basis
    or cannot move. `excess` is 1 where a basic variable is above its most and -1 where it is below
    its least. It stops where it meets `floor` or `ceiling`: its bounds, or the one it violates.
    """

    def __init__(
        self,
        cost: Tensor,
        columns: Tensor,
        rhs: Tensor,
        least: Tensor,
        most: Tensor,
        start: Basis | None,
    ) -> None:
        count, rows, self.given = *rhs.shape, cost.shape[1]
        device = rhs.device
        eye = torch.eye(rows, dtype=rhs.dtype, device=device).expand(count, -1, -1)
        extended = torch.cat([columns, eye], 2)
        artificial = torch.arange(self.given, self.given + rows, device=device).expand(count, -1)
        self.least, self.most = (torch.cat([b, torch.zeros_like(rhs)], 1) for b in (least, most))
        movable = (self.most > self.least).to(rhs.dtype)
        if start is None:
            self.basis, self.side, inverse = artificial.clone(), movable, eye
        else:
            inverse, usable = _inverse(extended, start.columns)
            self.basis = torch.where(usable, start.columns, artificial)
            at_most = start.at_most & usable & torch.isfinite(most)
            self.side = movable.clone()
            self.side[:, : self.given] *= torch.where(at_most, -1.0, 1.0).to(rhs.dtype)
            self.side.scatter_(1, self.basis, 0.0)
        resting = torch.where(self.side < 0, self.most, self.least).scatter(1, self.basis, 0.0)
        left = rhs - (columns @ resting[:, : self.given, None])[..., 0]
        self.value = (inverse @ left[..., None])[..., 0]
        self.floor, self.ceiling = self.least.gather(1, self.basis), self.most.gather(1, self.basis)
        above, below = self.value > self.ceiling + _SMALL, self.value < self.floor - _SMALL
        self.excess = above.to(rhs.dtype) - below.to(rhs.dtype)
        self.floor, self.ceiling = (
            torch.where(above, self.ceiling, self.floor).masked_fill(below, -torch.inf),
            torch.where(below, self.floor, self.ceiling).masked_fill(above, torch.inf),
        )
        paid = torch.cat([cost, torch.zeros_like(rhs)], 1)
        # The gains of basic variables are without their penalty, which ends as they leave.
        of_basis = paid.gather(1, self.basis) - _PENALTY * self.excess
        self.body = torch.cat([inverse, -of_basis[:, None] @ inverse], 1) @ extended
        self.body[:, -1] += paid
        self.program = torch.arange(count, device=device)

    def rows(self, kept: Tensor) -> _Table:
        """The programs kept (a mask)."""
        chosen = object.__new__(_Table)
        for name, value in vars(self).items():
            setattr(chosen, name, value[kept] if isinstance(value, Tensor) else value)
        chosen.program = self.program[: len(chosen.basis)]
        return chosen

    def answer(self, chosen: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """x, dual, basis and which are at their most, of the programs chosen (a mask)."""
        side, least, most = self.side[chosen], self.least[chosen], self.most[chosen]
        basis, at_most = self.basis[chosen], side < 0
        x = torch.where(at_most, most, least).scatter(1, basis, self.value[chosen])
        x = torch.minimum(torch.maximum(x, least), most)
        dual = -self.body[:, -1, self.given :][chosen]
        return x[:, : self.given], dual, basis, at_most[:, : self.given]

    def step(self) -> Tensor:
        """Move one variable of each program; False (B,) where none improves."""
        # Rounded, so that ties are broken by position and not by the noise of padding.
        rate = (self.body[:, -1] * self.side).round_(decimals=_DIGITS)
        best, entering = rate.max(-1, keepdim=True)
        side = self.side.gather(1, entering)  # (B,1)
        least, most = self.least.gather(1, entering), self.most.gather(1, entering)
        column = self.body[self.program, :, entering[:, 0]]  # (B,r+1)
        fall = column[:, :-1] * side  # by how much the basic variables fall per unit
        speed = fall.abs()
        room = torch.where(fall > 0, self.value - self.floor, self.ceiling - self.value)
        room = room.clamp_min_(0).div_(speed).masked_fill_(speed <= _SMALL, torch.inf)
        row = room.round(decimals=_DIGITS).argmin(-1, keepdim=True)
        reach, own = room.gather(1, row), most - least
        flips = own <= reach
        length = torch.minimum(reach, own)
        moves = (best > _SMALL) & torch.isfinite(length)
        length = torch.where(moves, length, 0.0)
        self.value -= length * fall
        self.side.scatter_(1, entering, torch.where(moves & flips, -side, side))
        entered = torch.where(side < 0, most - length, least + length)
        falling = fall.gather(1, row) > 0
        self._pivot(moves & ~flips, row, entering, column, entered, falling, least, most)
        return moves[:, 0]

    def _pivot(
        self,
        pivots: Tensor,
        row: Tensor,
        entering: Tensor,
        column: Tensor,
        entered: Tensor,
        falling: Tensor,
        least: Tensor,
        most: Tensor,
    ) -> None:
        """Exchange the basic variable of `row` (B,1) with `entering` (B,1) where `pivots` (B,1).

        `column` (B,r+1) is that of the entering variable, `entered` (B,1) its value, `least` and
        `most` (B,1) its bounds. The leaving variable stops at its most if it was rising, or
        `falling` (B,1) to it.
        """
        leaving, pivot = self.basis.gather(1, row), column.gather(1, row)
        excess = self.excess.gather(1, row)
        at_most = torch.where(falling, excess > 0, excess == 0)
        movable = self.most.gather(1, leaving) > self.least.gather(1, leaving)
        side = torch.where(at_most, -1.0, 1.0).to(pivot.dtype) * movable
        _put(self.side, leaving, pivots, side)
        _put(self.side, entering, pivots, torch.zeros_like(pivot))
        _put(self.value, row, pivots, entered)
        _put(self.floor, row, pivots, least)
        _put(self.ceiling, row, pivots, most)
        _put(self.excess, row, pivots, torch.zeros_like(pivot))
        _put(self.basis, row, pivots, entering)
        line = self.body[self.program, row[:, 0]] / torch.where(pivots, pivot, 1.0)
        factor = column.scatter(1, row, pivot - 1) * pivots
        self.body.addcmul_(factor[..., None], line[:, None], value=-1)


def _inverse(extended: Tensor, basis: Tensor) -> tuple[Tensor, Tensor]:
    """The inverse (B,r,r) of the columns of a basis (B,r), and whether there is one (B,1).

    The identity where there is none.
    """
    chosen = extended.gather(2, basis[:, None].expand(-1, extended.shape[1], -1))
    inverse = torch.linalg.inv_ex(chosen).inverse
    usable = (inverse.abs().amax((1, 2)) < _LARGEST)[:, None]  # False if NaN
    eye = torch.eye(basis.shape[1], dtype=inverse.dtype, device=inverse.device)
    return torch.where(usable[..., None], inverse, eye), usable


def _put(values: Tensor, index: Tensor, where: Tensor, new: Tensor) -> None:
    """Write `new` (B,1) at `index` (B,1) of the lines of values (B,n) for which `where` (B,1)."""
    values.scatter_(1, index, torch.where(where, new, values.gather(1, index)))
