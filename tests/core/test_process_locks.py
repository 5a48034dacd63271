"""Locks between processes: one at a time, free again when the holder is killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from attnaudit.core.process_locks import exclusive, is_held

pytest.importorskip("fcntl")
SPAWN = multiprocessing.get_context("spawn")


def hold(path: str, held: Event, release: Event) -> None:
    with exclusive(Path(path), "mine"):
        held.set()
        release.wait(60)


def count_up(lock: str, file: str, times: int) -> None:
    """Read, wait, write: loses counts unless the lock holds."""
    for _ in range(times):
        with exclusive(Path(lock)):
            count = int(Path(file).read_text())
            time.sleep(0.001)
            Path(file).write_text(str(count + 1))


def test_a_lock_is_seen_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "run"
    held, release = SPAWN.Event(), SPAWN.Event()
    process = SPAWN.Process(target=hold, args=(str(path), held, release))
    process.start()
    assert held.wait(60)
    assert is_held(path)
    assert path.read_text() == "mine"
    release.set()
    process.join(60)
    assert not is_held(path)
    assert not path.parent.exists()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "run"
    held, release = SPAWN.Event(), SPAWN.Event()
    process = SPAWN.Process(target=hold, args=(str(path), held, release))
    process.start()
    assert held.wait(60)
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join(60)
    assert path.is_file()
    assert not is_held(path)
    with exclusive(path, "next"):
        assert path.read_text() == "next"


def test_several_processes_take_turns(tmp_path: Path) -> None:
    """Also while the lock's file and folder vanish and come again all the time."""
    lock, file = tmp_path / "locks" / "count", tmp_path / "count"
    file.write_text("0")
    arguments = (str(lock), str(file), 40)
    processes = [SPAWN.Process(target=count_up, args=arguments) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert file.read_text() == "120"


def test_without_a_place_for_the_lock_the_block_runs(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with exclusive(tmp_path / "file" / "lock"):
        assert not is_held(tmp_path / "file" / "lock")
