"""Seconds of a piece of work: processor time on one thread, wall time on all cores, with spread."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class Seconds:
    """Repeated measurements of the same work, in seconds."""

    least: float
    median: float
    most: float

    @classmethod
    def of(cls, measured: list[float]) -> Seconds:
        """Summarise measurements."""
        return cls(min(measured), statistics.median(measured), max(measured))

    @property
    def spread(self) -> float:
        """Largest minus smallest, relative to the smallest."""
        return self.most / self.least - 1


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let torch use so many threads inside the context."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def processor_seconds(
    work: Callable[[], Any], repeats: int, device: torch.device
) -> tuple[Any, Seconds]:
    """The result of the work, and its processor time on one thread (wall time on a GPU)."""
    with threads(1):
        clock = time.process_time if device.type == "cpu" else time.perf_counter
        return _repeated(work, repeats, clock, device)


def wall_seconds(work: Callable[[], Any], repeats: int, device: torch.device) -> Seconds:
    """Its wall time with as many threads as there are cores."""
    with threads(len(os.sched_getaffinity(0))):
        return _repeated(work, repeats, time.perf_counter, device)[1]


def _repeated(
    work: Callable[[], Any], repeats: int, clock: Callable[[], float], device: torch.device
) -> tuple[Any, Seconds]:
    measured = []
    for _ in range(repeats):
        _finish(device)
        started = clock()
        result = work()
        _finish(device)
        measured.append(clock() - started)
    return result, Seconds.of(measured)


def _finish(device: torch.device) -> None:
    """Wait for what a GPU still computes."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
