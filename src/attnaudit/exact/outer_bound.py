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
from attnaudit.exact.box_bound import BoxAnswer, BoxProblem
from attnaudit.exact.inputs import Prepared
from attnaudit.exact.jsd import jsd_term
from attnaudit.exact.linear_program import Basis

_ADDED = 2  # points of the curved set added to its corners
_ROUNDS = 5
_AT_ONCE = 4  # boxes of an example that are split in one round
_CLOSE = 1e-4  # intervals this narrow are not split further
# Near weight 0 the distance has an infinite slope: a weight off by 1e-10 changes it by some 1e-9.
_MARGIN = 1e-8
_EXACT = 1e-6  # chords this close to the distance cannot be improved by a split


@dataclass
class Outer:
    """No feasible attention is further than `upper`; `alpha` are far ones, nearly feasible."""

    upper: Tensor  # (B,)
    alpha: Tensor  # (B,M,N)


def outer_bound(given: Prepared, epsilon: Tensor, known: Tensor) -> Outer:
    """Bound the distance of attention that keeps the prediction within epsilon (B,).

    `known` (B,): the distance of a feasible attention; boxes that cannot exceed it are not split.
    """
    problem = BoxProblem.of(given, epsilon)
    low = torch.zeros_like(given.alpha)
    high = masking.fill(torch.ones_like(low), given.mask)
    low, high = problem.tightened(low, high)
    first = problem.solve(low, high)
    for added in range(_ADDED):
        problem.add_point(first.y)
        basis = first.basis.with_one_more()
        if added == _ADDED - 1:
            low, high = problem.heavy_tightened(low, high, basis)
        first = problem.solve(low, high, start=basis)
    boxes = _Boxes(problem, low, high, first)
    proposals = [first.alpha]
    for _ in range(_ROUNDS):
        alpha = boxes.split(known)
        if alpha is None:
            break
        proposals.append(alpha)
    return Outer(boxes.upper() + _MARGIN, torch.stack(proposals, 1))


class _Boxes:
    """Boxes (M,B,N) that together hold every feasible attention, with their bounds (M,B)."""

    def __init__(self, problem: BoxProblem, low: Tensor, high: Tensor, first: BoxAnswer) -> None:
        places = 1 + _ROUNDS * _AT_ONCE
        self.problem, self.used = problem, 1
        self.low, self.high = (side.expand(places, -1, -1).clone() for side in (low, high))
        self.bound = first.bound.new_full((places, len(low)), -torch.inf)
        self.cut, self.item = self.bound.clone(), torch.zeros_like(self.bound, dtype=torch.int64)
        self.y = first.y.expand(places, -1, -1).clone()
        self.basis = Basis(
            first.basis.columns.expand(places, -1, -1).clone(),
            first.basis.at_most.expand(places, -1, -1).clone(),
        )
        self.error = self.bound.clone()
        self.bound[0], self.cut[0], self.item[0] = first.bound, first.cut, first.item
        self.error[0] = first.error

    def upper(self) -> Tensor:
        """The largest bound of each example (B,)."""
        return self.bound.amax(0)

    def split(self, known: Tensor) -> Tensor | None:
        """Split the worst boxes of every example; the furthest maximum (B,N) of their halves.

        None if no box can be further than `known` (B,).
        """
        # Rounded and stable: ties are broken by age and not by the noise of padding.
        worst = self.bound.round(decimals=10).sort(dim=0, descending=True, stable=True)
        ranked, order = worst.values[:_AT_ONCE], worst.indices[:_AT_ONCE]
        # If the chords of the worst box are exact where it has its maximum, nothing can be gained.
        useful = self.error.gather(0, order) > _EXACT
        useful = useful & useful[0]
        rank, example = ((ranked > known + _CLOSE) & useful).nonzero().unbind(1)
        if not len(example):
            return None
        place = order[rank, example]
        low, high, bound = (side[place, example] for side in (self.low, self.high, self.bound))
        item, cut = (value[place, example][:, None] for value in (self.item, self.cut))
        low = torch.cat([low, low.scatter(1, item, cut)])
        high = torch.cat([high.scatter(1, item, cut), high])
        place, new = place.repeat(2), torch.cat([place, self.used + rank])
        self.used += _AT_ONCE
        example = example.repeat(2)
        answer = self.problem.rows(example).solve(
            low, high, start=self.basis.rows((place, example)), other_y=self.y[place, example]
        )
        self.low[new, example], self.high[new, example] = low, high
        self.bound[new, example] = torch.minimum(answer.bound, bound.repeat(2))
        self.item[new, example], self.cut[new, example] = answer.item, answer.cut
        self.y[new, example], self.error[new, example] = answer.y, answer.error
        self.basis.columns[new, example] = answer.basis.columns
        self.basis.at_most[new, example] = answer.basis.at_most
        far = jsd_term(answer.alpha, self.problem.alpha[example]).sum(-1)
        furthest = far.new_full(known.shape, -1.0).scatter_reduce(0, example, far, "amax")
        chosen = (far == furthest[example]) & torch.isfinite(answer.bound)
        alpha = self.problem.alpha.clone()
        alpha[example[chosen]] = answer.alpha[chosen]
        return alpha
