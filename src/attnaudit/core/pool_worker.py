"""One process of the pool: what it was given, what it answers, and what it says if it dies."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.context import ForkServerContext, SpawnContext
from pathlib import Path
from typing import Any

from attnaudit.core.task_outcome import Finished, Outcome, Task, died
from attnaudit.core.thread_limits import threads_of_new_processes
from attnaudit.core.worker_process import INTERRUPTIONS, serve

_OUTPUT_KEPT = 4000  # bytes of the output of a process that died


class Job:
    """A task and how often it was started."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.attempts = 0
        self.started = 0.0


class End:
    """The end of one attempt."""

    def __init__(self, finished: Finished, *, died: bool) -> None:
        self._finished = finished
        self.died = died

    def outcome(self, job: Job) -> Outcome:
        value, error, trace, seconds = self._finished
        if self.died:
            error = died(job.attempts, str(error))
        return Outcome(job.task.key, value, error, trace, seconds, job.attempts)


class PoolWorker:
    """One process: starting, idle (no job), or busy (with a job).

    Parameters
    ----------
    share : threads it computes with.
    threads : the same if the user asked for a number, else None.
    modules : in which the functions are that it will be asked to call.
    """

    def __init__(self, share: int, threads: int | None, modules: list[str]) -> None:
        context = _context(modules)
        self.connection, theirs = context.Pipe()
        handle, self._output_path = tempfile.mkstemp(prefix="attnaudit-worker-", suffix=".log")
        self._output = os.fdopen(handle, "rb")
        with threads_of_new_processes(share):
            arguments = (theirs, self._output_path, threads, dict(os.environ), share)
            self.process = context.Process(target=serve, args=arguments)
            self.process.start()
        theirs.close()  # so that the connection ends with the process
        self.is_ready = False
        self.job: Job | None = None

    def give(self, job: Job) -> bool:
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


def _context(modules: list[str]) -> ForkServerContext | SpawnContext:
    """How processes are started: nothing of this process is copied into them.

    On Linux one server process imports what the tasks need, once, and forks the workers, so that a
    worker is ready in milliseconds. Elsewhere forking is unsafe or missing, and each imports it.
    """
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    # Without effect on a server that is running.
    context.set_forkserver_preload([*modules, *_loaded_architectures()])
    return context


def _loaded_architectures() -> list[str]:
    """The modules of transformers with the models of this process, which workers load again.

    With what they import they take seconds: in the server once, in every worker otherwise.
    """
    return [
        name
        for name in list(sys.modules)
        if name.startswith("transformers.models.") and ".modeling_" in name
    ]


@contextmanager
def no_interruption() -> Iterator[None]:
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
