"""What runs on the workers of a Dask cluster."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from attnaudit.core.task_outcome import Finished, call
from attnaudit.core.thread_limits import torch_threads

STARTED = "attnaudit-started"  # the topic of the messages about tasks that start


@dataclass(frozen=True)
class Call:
    """One task; `number` is its own among those of the client `run`."""

    run: str
    number: int
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    threads: int | None


@dataclass(frozen=True)
class Offer:
    """What a worker has: the versions of what its results depend on, and its resource tags."""

    versions: dict[str, str]
    resources: dict[str, float]


def run_call(task: Call) -> tuple[int, Finished]:
    """Run a task on a worker and return its number with what became of it.

    The scheduler knows that the task has started before it starts, so that the attempts of a task
    that ends its worker at once are counted too.
    """
    from distributed import get_worker
    from distributed.utils import sync

    worker = get_worker()
    with suppress(OSError):  # a lost scheduler: the worker will notice by itself
        sync(worker.loop, worker.scheduler.log_event, topic=STARTED, msg=[task.run, task.number])
    with torch_threads(task.threads):
        return task.number, call(task.function, task.arguments)


def offer(dask_worker: Any) -> Offer:
    """What this worker has; Dask passes the worker."""
    return Offer(versions(), dict(dask_worker.state.total_resources))


def versions() -> dict[str, str]:
    """Versions of what results and messages depend on; builds for other hardware are the same.

    Examples
    --------
    >>> sorted(versions())
    ['Python', 'attnaudit', 'distributed', 'torch']
    """
    from attnaudit import __version__

    return {
        "Python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "attnaudit": __version__,
        "distributed": metadata.version("distributed"),
        "torch": metadata.version("torch").split("+")[0],
    }
