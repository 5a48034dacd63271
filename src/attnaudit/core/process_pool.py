"""Run tasks in processes of this machine.

Every process has its own connection and one task at a time, so that a process that dies names its
task: the others go on undisturbed. (With `ProcessPoolExecutor` the death of one process ends all,
and every task that was running has to be repeated to find out which one it was.)
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.core.notices import notice
from attnaudit.core.task_outcome import Finished, Outcome, Task, died
from attnaudit.core.thread_limits import available_cores, threads_of_new_processes
from attnaudit.core.worker_process import DONE, INTERRUPTIONS, NOTICE, READY, serve

_GRACE = 1.0  # seconds a process has to end before it is killed
_OUTPUT_KEPT = 4000  # bytes of the output of a process that died
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
    waiting: deque[_Job] = deque()
    pool = _Pool(lambda: _Worker(share, threads))
    try:
        while True:
            while len(waiting) + len(pool.busy) < count:
                task = next(upcoming, None)
                if task is None:
                    break
                waiting.append(_Job(task))
            if not waiting and not pool.busy:
                return
            pool.grow(min(count, len(waiting) + len(pool.busy)))
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


class _Job:
    """A task and how often it was started."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.attempts = 0
        self.started = 0.0


class _End:
    """The end of one attempt."""

    def __init__(self, finished: Finished, *, died: bool) -> None:
        self._finished = finished
        self.died = died

    def outcome(self, job: _Job) -> Outcome:
        value, error, trace, seconds = self._finished
        if self.died:
            error = died(job.attempts, str(error))
        return Outcome(job.task.key, value, error, trace, seconds, job.attempts)


class _Worker:
    """One process: starting, idle (no job), or busy (with a job)."""

    def __init__(self, share: int, threads: int | None) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        handle, self._output_path = tempfile.mkstemp(prefix="attnaudit-worker-", suffix=".log")
        self._output = os.fdopen(handle, "rb")
        self.process = context.Process(target=serve, args=(theirs, self._output_path, threads))
        with threads_of_new_processes(share):
            self.process.start()
        theirs.close()  # so that the connection ends with the process
        self.is_ready = False
        self.job: _Job | None = None

    def give(self, job: _Job) -> bool:
        """Start a job; False if the process is gone."""
        try:
            self.connection.send((job.task.function, job.task.arguments))
        except (BrokenPipeError, ConnectionResetError):
            return False
        self.job = job
        job.attempts += 1
        job.started = time.perf_counter()
        return True

    def message(self) -> tuple[str, Any] | None:
        """The next message, None if the process is dead and has left none."""
        with suppress(EOFError, OSError):
            if self.connection.poll():
                return self.connection.recv()
        return None

    def set_ready(self) -> None:
        self.is_ready = True
        self._remove_output()

    def _remove_output(self) -> None:
        """The name goes, both open files stay: nothing is left behind however we end."""
        with suppress(OSError):
            Path(self._output_path).unlink(missing_ok=True)

    def death(self) -> Finished:
        """What there is to say about a process that died."""
        self.process.join()
        self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, self._output.tell() - _OUTPUT_KEPT))
        text = self._output.read().decode("utf-8", errors="replace").strip()
        seconds = time.perf_counter() - self.job.started if self.job else 0.0
        return Finished(None, _reason(self.process.exitcode), text or None, seconds)

    def close(self) -> None:
        self.connection.close()
        self._output.close()
        self._remove_output()
        self.process.close()


class _Pool:
    """The processes of one call of `run_in_processes`."""

    def __init__(self, new_worker: Callable[[], _Worker]) -> None:
        self._new_worker = new_worker
        self._workers: list[_Worker] = []
        self._failed_starts = 0
        atexit.register(self.stop)  # a generator that is never closed must not keep us from ending

    @property
    def busy(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.job is not None]

    @property
    def idle(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.is_ready and worker.job is None]

    def grow(self, count: int) -> None:
        """Start processes until there are `count`."""
        while len(self._workers) < count:
            with _no_interruption():
                self._workers.append(self._new_worker())

    def finished(self) -> Iterator[tuple[_Job, _End]]:
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
                yield job, _End(message[1], died=False)

    def _dead(self, worker: _Worker) -> Iterator[tuple[_Job, _End]]:
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
            yield worker.job, _End(end, died=True)

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


@contextmanager
def _no_interruption() -> Iterator[None]:
    """Delay Ctrl-C and SIGTERM, so that no process is started and forgotten.

    The new process inherits this until it has decided for itself what to do about them.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTIONS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _reason(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        name = signal.Signals(-exit_code).name
        memory = ", usually for lack of memory" if name == "SIGKILL" else ""
        return f"killed by {name}{memory}"
    return f"it ended with exit code {exit_code}"
