"""Run tasks in processes of this machine.

Every process has its own connection and one task at a time, so that a process that dies names its
task: the others go on undisturbed. (With `ProcessPoolExecutor` the death of one process ends all,
and every task that was running has to be repeated to find out which one it was.)
"""

from __future__ import annotations

import atexit
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import wait

from attnaudit.core.errors import InputError
from attnaudit.core.notices import notice
from attnaudit.core.pool_worker import End, Job, PoolWorker, no_interruption
from attnaudit.core.task_outcome import Outcome, Task
from attnaudit.core.thread_limits import available_cores
from attnaudit.core.worker_process import DONE, NOTICE, READY

_GRACE = 1.0  # seconds a process has to end before it is killed
_MAX_FAILED_STARTS = 3  # in a row, before anything ran


def run_in_processes(
    tasks: Iterable[Task],
    *,
    count: int,
    threads: int | None,
    retries: int,
    on_start: Callable[[str], None] | None = None,
) -> Iterator[Outcome]:
    """Run tasks in `count` processes of `threads` threads each; see `run_tasks`."""
    share = threads or max(1, available_cores() // count)
    upcoming = iter(tasks)
    waiting: deque[Job] = deque()
    pool = _Pool(lambda modules: PoolWorker(share, threads, modules))
    try:
        while True:
            while len(waiting) + len(pool.busy) < count:
                task = next(upcoming, None)
                if task is None:
                    break
                waiting.append(Job(task))
            if not waiting and not pool.busy:
                return
            if waiting:
                wanted = min(count, len(waiting) + len(pool.busy))
                pool.grow(wanted, waiting[0].task.modules())
            for worker in pool.idle:
                if waiting and worker.give(waiting[0]):
                    job = waiting.popleft()
                    if on_start is not None:
                        on_start(job.task.key)
            for job, finished in pool.finished():
                if finished.died and job.attempts <= retries:
                    waiting.appendleft(job)
                else:
                    yield finished.outcome(job)
    finally:
        pool.stop()


class _Pool:
    """The processes of one call of `run_in_processes`."""

    def __init__(self, new_worker: Callable[[list[str]], PoolWorker]) -> None:
        self._new_worker = new_worker
        self._workers: list[PoolWorker] = []
        self._failed_starts = 0
        atexit.register(self.stop)  # a generator that is never closed must not keep us from ending

    @property
    def busy(self) -> list[PoolWorker]:
        return [worker for worker in self._workers if worker.job is not None]

    @property
    def idle(self) -> list[PoolWorker]:
        return [worker for worker in self._workers if worker.is_ready and worker.job is None]

    def grow(self, count: int, modules: list[str]) -> None:
        """Start processes until there are `count`, which will need the modules."""
        while len(self._workers) < count:
            with no_interruption():
                self._workers.append(self._new_worker(modules))

    def finished(self) -> Iterator[tuple[Job, End]]:
        """Wait until something happens; the jobs that ended."""
        ready = set(
            wait(
                [
                    handle
                    for worker in self._workers
                    for handle in (worker.connection, worker.process.sentinel)
                ]
            )
        )
        for worker in list(self._workers):
            if not ready & {worker.connection, worker.process.sentinel}:
                continue
            message = worker.message()
            if message is None:
                yield from self._dead(worker)
            elif message[0] == READY:
                worker.set_ready()
                self._failed_starts = 0
            elif message[0] == NOTICE:
                notice(message[1])
            elif message[0] == DONE and worker.job is not None:
                job, worker.job = worker.job, None
                yield job, End(message[1], died=False)

    def _dead(self, worker: PoolWorker) -> Iterator[tuple[Job, End]]:
        self._workers.remove(worker)
        end = worker.death()
        worker.close()
        if not worker.is_ready:
            self._failed_starts += 1
            if self._failed_starts >= _MAX_FAILED_STARTS:
                raise InputError(
                    f"Worker processes cannot be started ({end.error}). A script that asks for "
                    "workers must make its calls under `if __name__ == '__main__':`, because "
                    "every worker imports the script. Otherwise use one worker."
                )
        if worker.job is not None:
            yield worker.job, End(end, died=True)

    def stop(self) -> None:
        """End all processes: idle ones by closing their connection, others by signals."""
        atexit.unregister(self.stop)
        workers, self._workers = self._workers, []
        for worker in workers:
            if worker.job is not None or not worker.is_ready:
                worker.process.terminate()
            with suppress(OSError):
                worker.connection.close()
        deadline = time.monotonic() + _GRACE
        for worker in workers:
            worker.process.join(max(0.0, deadline - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.close()
