"""How much faster is a grid with two workers than with one, on eight equal cells?

Run on a quiet machine: python benchmarks/grid_workers.py. Prints wall time and load for each.
"""

from __future__ import annotations

import os
import tempfile
import time

from attnaudit.core.tasks import Workers
from attnaudit.training import grid

# One thread per process in both, so that a worker is the same however many there are.
SPEC = {
    "dataset": "keyword:train=4000,dev=300,test=3000",
    "encoder": "bilstm",
    "epochs": 10,
    "target_score": 1.0,
    "seeds": list(range(8)),
    "audits": ["uniform_attention", "permutation", "agreement"],
}


def seconds_with(workers: int) -> float:
    """Wall time of the whole grid in a new folder."""
    with tempfile.TemporaryDirectory() as out:
        started = time.perf_counter()
        made = grid(SPEC, out, workers=Workers(workers, threads=1), show_progress=False)
        assert len(made.of("done")) == len(made.cells), made
        return time.perf_counter() - started


def main() -> None:
    """Measure one worker, then two."""
    times = {}
    for workers in (1, 2):
        load = os.getloadavg()[0]
        times[workers] = seconds_with(workers)
        print(f"{workers} workers: {times[workers]:.1f} s, load before {load:.1f}", flush=True)
    print(f"two workers are {times[1] / times[2]:.2f} times as fast as one")


if __name__ == "__main__":
    main()
