"""What does it cost to have a task run elsewhere?

Tasks that sleep for 0 or 1 ms, through the process pool and through a real Dask scheduler with
worker processes on this machine. Overhead per task is the wall-clock time, less the time that the
workers slept, over the number of tasks; start-up is left out by a first run of a few tasks.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attnaudit.core.tasks import Task, Workers, run_tasks


def seconds(workers: Workers, count: int, sleep: float) -> float:
    """Wall-clock time of `count` tasks after the first `2 * workers` are done."""
    first = 2 * max(2, workers.count)
    tasks = (Task(str(n), time.sleep, (sleep,)) for n in range(first + count))
    started = 0.0
    for number, outcome in enumerate(run_tasks(tasks, workers), start=1):
        if outcome.error is not None:
            raise SystemExit(outcome.error)
        if number == first:
            started = time.perf_counter()
    return time.perf_counter() - started


@contextmanager
def local_cluster(count: int) -> Iterator[str]:
    """The address of a scheduler with `count` worker processes of one thread each."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        options = ("--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file))
        dask = (sys.executable, "-m", "dask")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
        processes = [subprocess.Popen([*dask, "scheduler", "--port", "0", *options], **quiet)]
        while not file.exists():
            time.sleep(0.1)
        worker = [*dask, "worker", "--nthreads", "1", "--nworkers", str(count), *options]
        processes.append(subprocess.Popen(worker, **quiet))
        try:
            yield json.loads(file.read_text(encoding="utf-8"))["address"]
        finally:
            for process in reversed(processes):
                process.terminate()
                process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()
    rows = []
    with local_cluster(options.workers) as address:
        places = {"processes": Workers(options.workers), "dask": Workers(scheduler=address)}
        for place, workers in places.items():
            for milliseconds in (0, 1):
                taken = seconds(workers, options.tasks, milliseconds / 1000)
                slept = options.tasks * milliseconds / 1000 / options.workers
                rows.append(
                    {
                        "where": place,
                        "workers": options.workers,
                        "tasks": options.tasks,
                        "sleep_ms": milliseconds,
                        "seconds": round(taken, 3),
                        "overhead_ms_per_task": round(1000 * (taken - slept) / options.tasks, 4),
                        "load": round(os.getloadavg()[0], 1),
                    }
                )
    print(f"{'where':<10}{'workers':>8}{'tasks':>8}{'sleep ms':>10}{'seconds':>9}{'ms/task':>9}")
    for row in rows:
        print(
            f"{row['where']:<10}{row['workers']:>8}{row['tasks']:>8}{row['sleep_ms']:>10}"
            f"{row['seconds']:>9.1f}{row['overhead_ms_per_task']:>9.3f}"
        )
    text = json.dumps(rows, indent=1)
    print(text)
    if options.json:
        options.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
