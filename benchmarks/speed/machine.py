"""What this machine can do on one thread: the rates that the limits are computed from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from benchmarks.speed.timing import processor_seconds


@dataclass(frozen=True)
class Machine:
    """Measured rates, per second."""

    operations: float  # of multiplying large float32 matrices; an addition and a product are two
    functions: float  # tanh of one float32 number in a large tensor
    bytes: float  # read and written by a copy that does not fit into the cache
    draws: float  # random integers of 64 bits
    sorts: float  # such integers that are sorted, in rows of 32

    def seconds(self, work: Needed) -> float:
        """The least time for the work: its parts one after another."""
        return (
            work.operations / self.operations
            + work.functions / self.functions
            + work.bytes / self.bytes
            + work.draws / self.draws
            + work.sorts / self.sorts
        )


@dataclass(frozen=True)
class Needed:
    """What a row cannot do without."""

    operations: float = 0.0
    functions: float = 0.0
    bytes: float = 0.0
    draws: float = 0.0
    sorts: float = 0.0

    def __add__(self, other: Needed) -> Needed:
        return Needed(
            self.operations + other.operations,
            self.functions + other.functions,
            self.bytes + other.bytes,
            self.draws + other.draws,
            self.sorts + other.sorts,
        )

    def __mul__(self, times: float) -> Needed:
        return Needed(
            self.operations * times,
            self.functions * times,
            self.bytes * times,
            self.draws * times,
            self.sorts * times,
        )


def measure_machine(device: torch.device) -> Machine:
    """Measure the rates, each as the best of some repeats."""
    square = torch.randn(1024, 1024, device=device)
    small = torch.randn(2**16, device=device)
    large = torch.randn(2**25, device=device)
    target = torch.empty_like(large)
    out = torch.empty_like(square)

    draw, sort = _draw_and_sort(device)

    def seconds(work: Callable[[], Any]) -> float:
        return processor_seconds(work, 7, device)[1].least

    def many_tanh() -> None:
        for _ in range(64):
            torch.tanh(small, out=small)

    return Machine(
        operations=2 * 1024**3 / seconds(lambda: torch.mm(square, square, out=out)),
        functions=64 * 2**16 / seconds(many_tanh),
        bytes=2 * large.nbytes / seconds(lambda: target.copy_(large)),
        draws=_INTEGERS / seconds(draw),
        sorts=_INTEGERS / seconds(sort),
    )


_INTEGERS = 2**18  # 2 MiB, as much as some texts with their shuffles


def _draw_and_sort(device: torch.device) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Draw `_INTEGERS` random integers, and sort as many, the fastest way there is here."""
    generator = np.random.Generator(np.random.SFC64(0))
    drawn = generator.integers(2**62, size=(_INTEGERS // 32, 32))
    if device.type == "cpu":
        return lambda: generator.bytes(8 * _INTEGERS), lambda: np.sort(drawn, axis=-1)
    rows = torch.from_numpy(drawn).to(device)
    return lambda: rows.clone().random_(), lambda: torch.sort(rows, dim=-1)
