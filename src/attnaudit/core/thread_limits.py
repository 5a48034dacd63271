"""How many threads the numeric libraries of a process may use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def available_cores() -> int:
    """Cores this process may run on, fewer than the machine's if it is confined to some."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def threads_of_new_processes(threads: int) -> Iterator[None]:
    """Processes started in the block compute with so many threads each.

    The libraries read these variables when they are loaded, so they must be set before a process
    starts. This process is not changed.
    """
    before = {name: os.environ.get(name) for name in _VARIABLES}
    os.environ.update(dict.fromkeys(_VARIABLES, str(threads)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def threads_of_small_models(chosen: int | None) -> int | None:
    """How many threads to train and audit small models with: those chosen, else one.

    Their operations are so short that a second thread gains a tenth to a quarter, and that both
    wait for each other at every one of them if another program is busy on a core: then the same
    work took more than ten times as long. Numbers do not depend on the number of cores either.
    None leaves what OMP_NUM_THREADS says.
    """
    if chosen is None and not os.environ.get("OMP_NUM_THREADS"):
        return 1
    return chosen


@contextmanager
def torch_threads(threads: int | None) -> Iterator[None]:
    """Torch computes with so many threads in the block; None leaves it as it is."""
    if threads is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
