"""A real Dask cluster: workers that die, schedulers that are not there or go away."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

import task_functions
from attnaudit.core import dask_connection, dask_worker
from attnaudit.core.errors import InputError
from attnaudit.core.tasks import Outcome, Task, Workers, run_tasks
from dask_cluster import DaskCluster, dask_cluster, wait_until


def run_in_thread(tasks: list[Task], workers: Workers) -> tuple[threading.Thread, list[Outcome]]:
    outcomes: list[Outcome] = []
    thread = threading.Thread(target=lambda: outcomes.extend(run_tasks(tasks, workers)))
    thread.start()
    return thread, outcomes


def test_a_worker_killed_in_the_middle_of_a_task_loses_nothing(
    cluster: DaskCluster, tmp_path: Path
) -> None:
    started, gate = tmp_path / "started.pid", tmp_path / "gate"
    tasks = [Task(str(n), task_functions.double, (n,)) for n in range(20)]
    tasks.insert(3, Task("waits", task_functions.wait_for, (str(gate), str(started))))
    thread, outcomes = run_in_thread(tasks, Workers(scheduler=cluster.address))
    wait_until(started.exists)
    first = int(started.read_text(encoding="utf-8"))
    os.kill(first, signal.SIGKILL)
    gate.touch()
    thread.join(timeout=60)
    found = {outcome.key: outcome for outcome in outcomes}
    assert len(outcomes) == len(found) == 21
    assert all(found[str(n)].value == 2 * n for n in range(20))
    waited = found["waits"]
    assert (waited.error, waited.attempts) == (None, 2)
    assert waited.value != first  # another process


def test_tasks_that_share_a_worker_with_one_that_kills_it_are_not_blamed(tmp_path: Path) -> None:
    """The only worker runs both at once, so the scheduler gives up both."""
    tasks = [
        Task("killer", task_functions.kill_process_after, (0.3,)),
        Task("innocent", time.sleep, (1.0,)),
    ]
    with dask_cluster(tmp_path, workers=0) as cluster:
        cluster.start_worker("--nthreads", "2")
        workers = Workers(scheduler=cluster.address)
        outcomes = {outcome.key: outcome for outcome in run_tasks(tasks, workers)}
    assert outcomes["innocent"].error is None
    assert outcomes["innocent"].attempts == 3  # twice with the other, then alone
    assert str(outcomes["killer"].error).startswith("worker died (4 attempts): ")


def test_the_scheduler_file_is_as_good_as_the_address_and_the_cluster_stays(
    cluster: DaskCluster,
) -> None:
    for scheduler in (str(cluster.file), cluster.address):
        (outcome,) = run_tasks(
            [Task("one", task_functions.double, (1,))], Workers(scheduler=scheduler)
        )
        assert outcome.value == 2


def test_closing_the_iterator_cancels_what_has_not_begun(
    cluster: DaskCluster, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    tasks = [
        Task(str(n), task_functions.wait_for, (str(gate), str(tmp_path / f"{n}.pid")))
        for n in range(10)
    ]
    tasks.insert(0, Task("quick", task_functions.double, (1,)))
    outcomes = run_tasks(tasks, Workers(scheduler=cluster.address))
    assert next(outcomes).key == "quick"
    wait_until(lambda: len(list(tmp_path.glob("*.pid"))) == 2)
    began = time.monotonic()
    outcomes.close()  # type: ignore[attr-defined]
    assert time.monotonic() - began < 4
    gate.touch()
    again = [Task(str(n), task_functions.double, (n,)) for n in range(4)]
    assert len(list(run_tasks(again, Workers(scheduler=cluster.address)))) == 4
    assert len(list(tmp_path.glob("*.pid"))) <= 4  # those that two workers had already


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_connection, "CONNECT_SECONDS", 0.5)
    monkeypatch.setattr(dask_connection, "WORKER_SECONDS", 1.0)


def run_one(scheduler: str, **options: object) -> list[Outcome]:
    task = Task("one", task_functions.double, (1,))
    return list(run_tasks([task], Workers(scheduler=scheduler, **options)))  # type: ignore[arg-type]


@pytest.mark.usefixtures("impatient")
def test_a_scheduler_that_is_not_there_is_an_input_error() -> None:
    with pytest.raises(InputError, match=r"tcp://127.0.0.1:9 cannot be reached .* Is it running"):
        run_one("tcp://127.0.0.1:9")
    with pytest.raises(InputError, match=r"no scheduler file 'localhost'.*tcp://127"):
        run_one("localhost")
    with pytest.raises(InputError, match="cannot be reached"):
        run_one("carrier-pigeon://here")


@pytest.mark.usefixtures("impatient")
def test_a_resource_that_no_worker_has_is_an_input_error(
    cluster: DaskCluster, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(InputError, match=r"no worker with GPU=1 for 1 seconds.*--resources GPU=1"):
        run_one(cluster.address, resources={"GPU": 1})
    assert any("waiting up to 1 seconds" in message for message in caplog.messages)


def test_a_task_goes_to_the_worker_that_has_what_it_needs(
    cluster: DaskCluster, tmp_path: Path
) -> None:
    cluster.start_worker("--resources", "GPU=1")
    gate = tmp_path / "gate"
    gate.touch()
    tasks = [
        Task(str(n), task_functions.wait_for, (str(gate), str(tmp_path / f"{n}.pid")))
        for n in range(6)
    ]
    workers = Workers(scheduler=cluster.address, resources={"GPU": 1})
    pids = {outcome.value for outcome in run_tasks(tasks, workers)}
    assert len(pids) == 1
    last = cluster.processes.pop()
    last.terminate()
    last.wait(timeout=20)


def test_workers_of_another_version_are_rejected(
    cluster: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = dask_worker.versions() | {"torch": "1.0.0"}
    monkeypatch.setattr(dask_connection, "versions", lambda: ours)
    with pytest.raises(InputError, match=r"other versions: torch \S+ there, 1.0.0 here"):
        run_one(cluster.address)


def test_the_log_of_dask_is_silent_while_we_report_errors_ourselves(cluster: DaskCluster) -> None:
    log = logging.getLogger("distributed.client")
    with dask_connection.connected(cluster.address, {}):
        assert not log.isEnabledFor(logging.ERROR)
    assert log.isEnabledFor(logging.ERROR)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'attnaudit\[dask\]'"):
        run_one("tcp://127.0.0.1:9")


def test_a_cluster_that_lost_its_workers_and_then_its_scheduler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with dask_cluster(tmp_path, workers=0) as cluster:
        scheduler = cluster.processes[0]
        monkeypatch.setattr(dask_connection, "WORKER_SECONDS", 1.0)
        with pytest.raises(InputError, match=r"no worker for 1 seconds. Start one with `dask work"):
            run_one(cluster.address)
        monkeypatch.setattr(dask_connection, "WORKER_SECONDS", 60.0)
        monkeypatch.setattr(dask_connection, "CONNECT_SECONDS", 3.0)
        cluster.start_worker()
        address, started = cluster.address, tmp_path / "started.pid"
        waits = Task("waits", task_functions.wait_for, (str(tmp_path / "never"), str(started)))
        timer = threading.Thread(target=lambda: (wait_until(started.exists), scheduler.kill()))
        timer.start()
        with pytest.raises(InputError, match=r"scheduler tcp://.* was lost"):
            list(run_tasks([waits], Workers(scheduler=address)))
        timer.join()
