"""Run tasks on a Dask cluster that is there already.

The scheduler starts a task again whose worker died, until `distributed.scheduler.allowed-failures`
workers died with it. It counts all tasks that the worker had, not only the one at fault. So a task
that it gives up is a suspect only: suspects run again one at a time, after all others, and only one
that loses its worker while it is alone has failed.
"""

from __future__ import annotations

import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from attnaudit.core import dask_connection
from attnaudit.core.dask_worker import STARTED, Call, run_call
from attnaudit.core.notices import notice
from attnaudit.core.task_outcome import Finished, Outcome, Task, describe, died

if TYPE_CHECKING:
    from distributed import Client, Future

_MIN_IN_FLIGHT = 100
_PER_THREAD = 4
_CHECK_SECONDS = 2.0  # how often the number of workers is looked at


def run_on_dask(
    tasks: Iterable[Task],
    *,
    scheduler: str,
    resources: Mapping[str, float],
    threads: int | None,
    on_start: Callable[[str], None] | None = None,
) -> Iterator[Outcome]:
    """Run tasks on the workers of a Dask scheduler; see `run_tasks`."""
    upcoming = iter(tasks)
    suspects: deque[_Job] = deque()
    with dask_connection.connected(scheduler, resources) as client:
        flight = _Flight(client, scheduler, resources, threads)
        while True:
            room = flight.room()
            if room:
                flight.start([_Job(task) for task in islice(upcoming, room)])
            if not flight.jobs:
                if not suspects:
                    return
                flight.start([suspects.popleft()])
            for happened in flight.events():
                if isinstance(happened, _Job):
                    if on_start is not None:
                        on_start(happened.task.key)
                    continue
                job, outcome = happened
                if outcome is None and not job.is_suspect:
                    job.is_suspect = True
                    suspects.append(job)
                else:
                    yield outcome or job.killed()


class _Job:
    """A task, how often it was started, and whether a worker has died with it."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.attempts = 0
        self.is_suspect = False
        self.last_worker = ""
        self.started = time.perf_counter()

    def killed(self) -> Outcome:
        reason = f"the last was {self.last_worker}; lack of memory is the usual cause"
        attempts = max(1, self.attempts)
        seconds = time.perf_counter() - self.started
        return Outcome(self.task.key, None, died(attempts, reason), None, seconds, attempts)


class _Flight:
    """The tasks that the scheduler has."""

    def __init__(
        self, client: Client, scheduler: str, resources: Mapping[str, float], threads: int | None
    ) -> None:
        self.jobs: dict[int, _Job] = {}
        self._client = client
        self._scheduler = scheduler
        self._resources = dict(resources)
        self._threads = threads
        self._run = uuid.uuid4().hex
        self._futures: dict[int, Future] = {}
        self._submitted = 0
        self._happened: SimpleQueue[tuple[int, bool]] = SimpleQueue()  # number, is it the end?
        self._limit = _MIN_IN_FLIGHT
        self._checked = 0.0
        self._with_workers = time.monotonic()
        client.subscribe_topic(STARTED, self._note_start)

    def room(self) -> int:
        """How many tasks may be submitted now: none, or so many that it is worth a message."""
        self._check_workers()
        free = self._limit - len(self.jobs)
        return free if free >= self._limit // 4 else 0

    def start(self, jobs: list[_Job]) -> None:
        """Submit jobs."""
        numbers = range(self._submitted, self._submitted + len(jobs))
        self._submitted += len(jobs)
        calls = [
            Call(self._run, number, *job.task[1:], threads=self._threads)
            for number, job in zip(numbers, jobs, strict=True)
        ]
        if not calls:
            return
        futures = self._client.map(
            run_call,
            calls,
            key=[f"{call.function.__name__}-{self._run}-{call.number}" for call in calls],
            resources=self._resources or None,
            pure=False,
        )
        for number, job, future in zip(numbers, jobs, futures, strict=True):
            self.jobs[number], self._futures[number] = job, future
            future.add_done_callback(lambda _, number=number: self._happened.put((number, True)))

    def events(self) -> Iterator[_Job | tuple[_Job, Outcome | None]]:
        """Wait a moment for something to happen.

        Yields jobs that started, and (job, outcome) that ended; None if the worker died.
        """
        ended = []
        for number, is_end in self._next_happened():
            if number not in self.jobs:
                continue
            if is_end:
                ended.append(number)
            else:
                self.jobs[number].attempts += 1
                yield self.jobs[number]
        yield from self._ends(ended)

    def _next_happened(self) -> list[tuple[int, bool]]:
        events = []
        try:
            events.append(self._happened.get(timeout=_CHECK_SECONDS))
            while True:
                events.append(self._happened.get_nowait())
        except Empty:
            return events

    def _ends(self, numbers: list[int]) -> Iterator[tuple[_Job, Outcome | None]]:
        futures = [self._futures[number] for number in numbers]
        if any(future.status == "cancelled" for future in futures):  # not by us
            raise dask_connection.lost(self._scheduler)
        finished = [future for future in futures if future.status == "finished"]
        try:
            results: list[tuple[int, Finished]] = self._client.gather(finished, errors="skip")
        except OSError as error:  # the connection was closed meanwhile
            raise dask_connection.lost(self._scheduler) from error
        for number, end in results:
            job = self._remove(number)
            yield job, Outcome(job.task.key, *end, attempts=max(1, job.attempts))
        for number in numbers:
            future = self._futures.get(number)
            if future is None:
                continue
            if future.status == "error":
                yield self._error(number, future.exception())
            else:  # lost: its worker died before the result was fetched, so it runs again
                future.add_done_callback(
                    lambda _, number=number: self._happened.put((number, True))
                )

    def _error(self, number: int, error: Any) -> tuple[_Job, Outcome | None]:
        from distributed import KilledWorker

        job = self._remove(number)
        if isinstance(error, KilledWorker):
            job.last_worker = str(error.last_worker.address)
            return job, None
        attempts = max(1, job.attempts)
        return job, Outcome(job.task.key, None, describe(error), None, 0.0, attempts)

    def _remove(self, number: int) -> _Job:
        del self._futures[number]  # the scheduler forgets the result
        return self.jobs.pop(number)

    def _note_start(self, event: tuple[float, list[Any]]) -> None:
        run, number = event[1]
        if run == self._run:  # others may use the cluster, too
            self._happened.put((number, False))

    def _check_workers(self) -> None:
        """Adjust to the number of workers; give up when all have been gone for long."""
        now = time.monotonic()
        if now - self._checked < _CHECK_SECONDS:
            return
        self._checked = now
        try:
            threads = sum(self._client.nthreads().values())
        except OSError as error:
            raise dask_connection.lost(self._scheduler) from error
        self._limit = max(_MIN_IN_FLIGHT, _PER_THREAD * threads)
        if threads:
            self._with_workers = now
        elif now - self._with_workers > dask_connection.WORKER_SECONDS:
            raise dask_connection.no_workers(self._scheduler, self._resources)
        elif now - self._with_workers < 2 * _CHECK_SECONDS:
            notice(f"All workers of the Dask scheduler {self._scheduler} are gone; waiting.")
