"""A real Dask scheduler with real worker processes on 127.0.0.1, for tests of any room."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from loaded_process import LoadedCommand, kill_group

ROOT = Path(__file__).parents[1]
_START_SECONDS = 60.0


Process = subprocess.Popen[bytes] | LoadedCommand


@dataclass
class DaskCluster:
    """A scheduler and its workers. What is started here is ended by its process id."""

    folder: Path
    loaded: bool = False  # whether its workers have the libraries loaded when they start
    processes: list[Process] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        return self.folder / "scheduler.json"

    @property
    def address(self) -> str:
        return str(json.loads(self.file.read_text(encoding="utf-8"))["address"])

    def start(self, *arguments: str) -> Process:
        """Start `dask ARGUMENTS`; output goes to a file of the folder."""
        output = self.folder / f"{arguments[0]}-{len(self.processes)}.log"
        environment = dict(os.environ)
        environment["PYTHONPATH"] = os.pathsep.join(
            [*map(str, (ROOT / "src", ROOT / "tests", ROOT)), *_paths_of_this_run()]
        )
        # two deaths of a worker make a task a suspect; the default is four
        environment["DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES"] = "1"
        if self.loaded:
            environment["DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD"] = "forkserver"
        environment |= self.environment
        process: Process
        if self.loaded:
            process = LoadedCommand(
                *arguments, module="dask", env=environment, cwd=self.folder, output=output
            )
        else:
            with output.open("wb") as log:
                process = subprocess.Popen(
                    [sys.executable, "-m", "dask", *arguments],
                    stdout=log,
                    stderr=log,
                    cwd=self.folder,
                    env=environment,
                    start_new_session=True,
                )
        self.processes.append(process)
        return process

    def start_scheduler(self) -> Process:
        process = self.start(
            *("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"),
            *("--no-show", "--scheduler-file", str(self.file)),
        )
        wait_until(self.file.exists, process)
        return process

    def start_worker(self, *options: str) -> Process:
        """One worker process of one thread, restarted by its nanny if it dies."""
        return self.start(
            *("worker", "--scheduler-file", str(self.file), "--host", "127.0.0.1"),
            *("--nthreads", "1", "--no-dashboard", "--local-directory", str(self.folder)),
            *options,
        )

    def stop(self) -> None:
        """End every process with its children, which are in a session of its own."""
        for process in self.processes:
            kill_group(process)
        self.processes.clear()


def _paths_of_this_run() -> list[str]:
    return [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]


def wait_until(is_true: Callable[[], bool], process: Process | None = None) -> None:
    """Wait for a condition, while a process runs."""
    deadline = time.monotonic() + _START_SECONDS
    while not is_true():
        assert time.monotonic() < deadline, "too late"
        assert process is None or process.poll() is None, "the process ended"
        time.sleep(0.05)


@contextmanager
def dask_cluster(folder: Path, workers: int = 2, *, loaded: bool = False) -> Iterator[DaskCluster]:
    """A scheduler with worker processes, until the end of the block."""
    cluster = DaskCluster(folder, loaded)
    try:
        cluster.start_scheduler()
        for _ in range(workers):
            cluster.start_worker()
        yield cluster
    finally:
        cluster.stop()
