"""One row of the table: the same work done by the package and by something else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from benchmarks.speed.machine import Machine, Needed
from benchmarks.speed.timing import Seconds, processor_seconds, wall_seconds
from torch import Tensor

Numbers = list[Tensor]  # per example, in the order of the texts


@dataclass(frozen=True)
class Row:
    """What is measured.

    Parameters
    ----------
    name : "work, corpus".
    against : what the other side is.
    ours, theirs : callables that return the numbers of all texts.
    least : the ratio of times that is aimed at; None if there is no aim.
    difference : (ours, theirs) -> the largest difference that is not allowed to be large.
    tolerance : of that difference.
    needed : what the work cannot do without, in operations.
    essential : runs what our way of computing it cannot do without, see `essentials`.
    """

    name: str
    against: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    least: float | None = None
    difference: Callable[[Any, Any], float] = field(default=lambda a, b: largest_difference(a, b))
    tolerance: float = 1e-5
    needed: Needed | None = None
    essential: Callable[[], Any] | None = None


@dataclass(frozen=True)
class Outcome:
    """What was measured. Times in seconds."""

    row: Row
    ours: Seconds
    theirs: Seconds
    ours_wall: Seconds | None  # None if not measured
    theirs_wall: Seconds | None  # None also if it was too long to repeat
    difference: float
    limit: float | None
    essential: Seconds | None = None

    @property
    def best_ratio(self) -> float | None:
        """The ratio if all but the essential parts took no time."""
        return None if self.essential is None else self.theirs.least / self.essential.least

    @property
    def ratio(self) -> float:
        """How many times as long the other side takes, in processor time."""
        return self.theirs.least / self.ours.least

    @property
    def wall_ratio(self) -> float | None:
        """The same in wall time on all cores."""
        if self.theirs_wall is None or self.ours_wall is None:
            return None
        return self.theirs_wall.least / self.ours_wall.least

    @property
    def from_limit(self) -> float | None:
        """How many times as long as the limit the package takes."""
        return None if not self.limit else self.ours.least / self.limit

    @property
    def equal(self) -> bool:
        """Whether both sides gave the same numbers."""
        return self.difference <= self.row.tolerance


_LONG = 20.0  # seconds: the other side is then measured once


def measured(
    row: Row, machine: Machine, device: torch.device, repeats: int, *, cores: bool
) -> Outcome:
    """Measure one row; `cores`: also in wall time on all of them."""
    theirs_result, theirs = processor_seconds(row.theirs, 1, device)
    if theirs.least < _LONG and repeats > 1:
        theirs_result, theirs = processor_seconds(row.theirs, repeats, device)
    row.ours()  # warm up: imports, caches, tables made once
    ours_result, ours = processor_seconds(row.ours, 2 * repeats, device)
    essential = None
    if row.essential is not None:
        row.essential()
        _, essential = processor_seconds(row.essential, 2 * repeats, device)
    repeated = cores and theirs.least < _LONG
    return Outcome(
        row,
        ours,
        theirs,
        wall_seconds(row.ours, repeats, device) if cores else None,
        wall_seconds(row.theirs, 1, device) if repeated else None,
        row.difference(ours_result, theirs_result),
        None if row.needed is None else machine.seconds(row.needed),
        essential,
    )


def largest_difference(ours: Numbers, theirs: Numbers) -> float:
    """The largest absolute difference; NaN must stand in the same places."""
    if len(ours) != len(theirs):
        return float("inf")
    worst = 0.0
    for one, other in zip(ours, theirs, strict=True):
        one, other = one.detach().cpu().double(), other.detach().cpu().double()
        if one.shape != other.shape or bool((one.isnan() != other.isnan()).any()):
            return float("inf")
        if one.numel():
            worst = max(worst, float((one - other).nan_to_num().abs().max()))
    return worst


def per_text(values: Tensor, content: Tensor) -> Numbers:
    """The values (B,N) of the words of each text."""
    return [row[words] for row, words in zip(values, content, strict=True)]
