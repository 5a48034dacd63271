"""What this machine can do on one thread: the rates that the limits are computed from."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from benchmarks.speed.timing import processor_seconds


@dataclass(frozen=True)
class Machine:
    """Measured rates, per second."""

    operations: float  # of multiplying large float32 matrices; an addition and a product are two
    functions: float  # tanh of one float32 number in a large tensor
    bytes: float  # read and written by a copy that does not fit into the cache

    def seconds(self, work: Needed) -> float:
        """The least time for the work: its parts one after another."""
        return (
            work.operations / self.operations
            + work.functions / self.functions
            + work.bytes / self.bytes
        )


@dataclass(frozen=True)
class Needed:
    """What a row cannot do without."""

    operations: float = 0.0
    functions: float = 0.0
    bytes: float = 0.0

    def __add__(self, other: Needed) -> Needed:
        return Needed(
            self.operations + other.operations,
            self.functions + other.functions,
            self.bytes + other.bytes,
        )


def measure_machine(device: torch.device) -> Machine:
    """Measure the rates, each as the best of some repeats."""
    square = torch.randn(1024, 1024, device=device)
    small = torch.randn(2**16, device=device)
    large = torch.randn(2**25, device=device)
    target = torch.empty_like(large)
    out = torch.empty_like(square)

    def seconds(work: object) -> float:
        return processor_seconds(work, 7, device)[1].least  # type: ignore[arg-type]

    def many_tanh() -> None:
        for _ in range(64):
            torch.tanh(small, out=small)

    return Machine(
        operations=2 * 1024**3 / seconds(lambda: torch.mm(square, square, out=out)),
        functions=64 * 2**16 / seconds(many_tanh),
        bytes=2 * large.nbytes / seconds(lambda: target.copy_(large)),
    )
