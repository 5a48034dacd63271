"""A grid on a real Dask cluster gives what the local engine gives, also if a worker is killed."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

from attnaudit.core.tasks import Workers
from attnaudit.training import grid
from attnaudit.training.grids.status import GridStatus
from dask_cluster import DaskCluster, wait_until
from tiny_grids import TINY, tables


def test_a_grid_on_dask_equals_a_local_one_though_a_worker_is_killed(
    cluster: DaskCluster, tmp_path: Path
) -> None:
    grid(TINY, tmp_path / "here", workers=Workers(threads=1), show_progress=False)
    slow = {
        "dataset": f"tiny_grids:slow:folder={tmp_path},seconds=1.5",
        "encoder": "average",
        "seed": 0,
        "embedding": 50,
    }
    out, made = tmp_path / "there", list[GridStatus]()
    spec = {**TINY, "include": [slow]}
    on_cluster = Workers(scheduler=cluster.address, threads=1)

    def run() -> None:
        made.append(grid(spec, out, workers=on_cluster, show_progress=False))

    thread = threading.Thread(target=run)
    thread.start()
    wait_until((tmp_path / "begun").exists)
    os.kill(int((tmp_path / "begun").read_text()), signal.SIGKILL)
    thread.join(timeout=120)
    assert [cell.state for cell in made[0].cells] == ["done"] * 5
    here, there = tables(tmp_path / "here"), tables(out)
    assert {name: there[name] for name in here} == here
    assert sorted(there.values())[0] in here.values()
    assert len(there) == 5
