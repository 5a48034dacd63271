"""What this machine can do on one thread: the rates that the limits are computed from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from benchmarks.speed.timing import processor_seconds

from attnaudit.core.onednn import product_for


@dataclass(frozen=True)
class Machine:
    """Measured rates, per second."""

    operations: float  # of multiplying large float32 matrices; an addition and a product are two
    functions: float  # σ of one float32 number, of which tanh is made; a logarithm takes longer
    bytes: float  # read and written by a copy within the cache
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
    """Measure the rates, each as the best of some repeats, by the fastest way that torch has."""
    square = torch.randn(1024, 1024, device=device)
    small = torch.randn(2**16, device=device)  # 256 KiB
    target, out = torch.empty_like(small), torch.empty_like(square)
    draw, sort = _draw_and_sort(device)

    def seconds(work: Callable[[], Any]) -> float:
        return processor_seconds(work, 7, device)[1].least

    def many(work: Callable[[], Any]) -> Callable[[], None]:
        def repeated() -> None:
            for _ in range(64):
                work()

        return repeated

    products: list[Callable[[], Any]] = [lambda: torch.mm(square, square, out=out)]
    by_onednn = product_for(square)
    if by_onednn is not None:
        products.append(lambda: by_onednn(square, square, None))
    return Machine(
        operations=2 * 1024**3 / min(seconds(product) for product in products),
        functions=64 * 2**16 / seconds(many(lambda: torch.sigmoid(small, out=target))),
        bytes=64 * 2 * small.nbytes / seconds(many(lambda: target.copy_(small))),
        draws=_INTEGERS / seconds(draw),
        sorts=_INTEGERS / seconds(sort),
    )


_INTEGERS = 2**18  # 2 MiB, as much as some texts with their shuffles


def _draw_and_sort(device: torch.device) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Draw `_INTEGERS` random integers, and sort as many, the fastest way there is here."""
    generator = np.random.Generator(np.random.SFC64(0))
    drawn = generator.integers(2**62, size=(_INTEGERS // 32, 32))
    if device.type == "cpu":
        raw = generator.bit_generator.random_raw
        return lambda: raw(_INTEGERS), lambda: np.sort(drawn, axis=-1)
    rows = torch.from_numpy(drawn).to(device)
    return lambda: rows.clone().random_(), lambda: torch.sort(rows, dim=-1)
