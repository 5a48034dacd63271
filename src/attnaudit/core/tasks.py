"""Run many tasks: in this process, in processes of this machine, or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from attnaudit.core.errors import InputError
from attnaudit.core.task_outcome import Outcome, Task, call
from attnaudit.core.thread_limits import torch_threads

__all__ = ["Outcome", "Task", "Workers", "run_tasks"]


@dataclass(frozen=True)
class Workers:
    """Where tasks run: in this process (default), in processes of this machine, or on Dask.

    Parameters
    ----------
    count : processes on this machine; 1 runs everything in this process.
    scheduler : address of a Dask scheduler, such as "tcp://127.0.0.1:8786", or its scheduler file.
    resources : what a Dask worker must offer to get a task, such as {"GPU": 1}.
    threads : threads of torch and OpenMP per process. If omitted: the cores of this machine divided
        by `count`, at least 1; in this process and on Dask workers, what they are set to, but one
        in this process for models of the papers (see `thread_limits`).

    Examples
    --------
    >>> Workers(count=4, threads=2)
    Workers(count=4, scheduler=None, resources={}, threads=2)
    """

    count: int = 1
    scheduler: str | None = None
    resources: Mapping[str, float] = field(default_factory=dict)
    threads: int | None = None

    @property
    def in_this_process(self) -> bool:
        """Whether there are no other processes."""
        return self.count == 1 and self.scheduler is None

    def __post_init__(self) -> None:
        for name, value in (("workers", self.count), ("threads", self.threads)):
            if value is not None and value < 1:
                raise InputError(f"The number of {name} must be at least 1, not {value}.")
        if self.scheduler is not None and self.count != 1:
            raise InputError(
                f"{self.count} workers on this machine and the scheduler {self.scheduler} were "
                "given. Give one of the two: the scheduler's workers are started on their own."
            )
        if self.resources and self.scheduler is None:
            raise InputError(
                "Resources are tags of Dask workers, so they need a scheduler: "
                "tcp://HOST:PORT or a scheduler file."
            )


def as_workers(workers: Workers | int) -> Workers:
    """Workers, or as many processes on this machine.

    >>> as_workers(2).count
    2
    """
    return workers if isinstance(workers, Workers) else Workers(workers)


def run_tasks(
    tasks: Iterable[Task],
    workers: Workers,
    *,
    retries: int = 2,
    on_start: Callable[[str], None] | None = None,
) -> Iterator[Outcome]:
    """Run tasks and yield their outcomes as they finish.

    Tasks are taken from the iterable when there is room for them, so that a million is no more
    than a few at a time. A task that raises an exception has failed, and the others go on. A task
    whose worker died is started again; the other tasks are not disturbed. Closing the iterator, or
    an interruption, stops the workers of this machine, and cancels what a cluster has not begun.

    Parameters
    ----------
    tasks : with unique keys.
    workers : where they run.
    retries : how often a task is started again after its worker died. On a Dask cluster the
        scheduler's own setting decides, `distributed.scheduler.allowed-failures`.
    on_start : called with the key whenever a task starts, in the thread that iterates.

    Examples
    --------
    >>> tasks = (Task(str(n), divmod, (7, n)) for n in range(3))
    >>> for outcome in run_tasks(tasks, Workers()):
    ...     print(outcome.key, outcome.value, outcome.error)
    0 None ZeroDivisionError: integer division or modulo by zero
    1 (7, 0) None
    2 (3, 1) None
    """
    if workers.scheduler is not None:
        from attnaudit.core.dask_cluster import run_on_dask

        return run_on_dask(
            tasks,
            scheduler=workers.scheduler,
            resources=workers.resources,
            threads=workers.threads,
            on_start=on_start,
        )
    if workers.count > 1:
        from attnaudit.core.process_pool import run_in_processes

        return run_in_processes(
            tasks,
            count=workers.count,
            threads=workers.threads,
            retries=retries,
            on_start=on_start,
        )
    return _run_here(tasks, workers.threads, on_start)


def _run_here(
    tasks: Iterable[Task], threads: int | None, on_start: Callable[[str], None] | None
) -> Iterator[Outcome]:
    for task in tasks:
        if on_start is not None:
            on_start(task.key)
        with torch_threads(threads):
            finished = call(task.function, task.arguments)
        yield Outcome(task.key, *finished, attempts=1)
