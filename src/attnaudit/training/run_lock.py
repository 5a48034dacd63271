"""Which process is working on a run directory: one at a time, seen from any other process."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from attnaudit.core.process_locks import exclusive, is_held

FOLDER = ".attnaudit-running"  # next to the run directories
_BEAT = 15.0  # seconds between two signs of life, for other machines
_SILENT = 120.0  # seconds without one: the process is taken for dead


class Worker(NamedTuple):
    """Who works, or worked, on a run directory.

    started : seconds since the epoch.
    alive : False if the process ended without finishing.
    """

    host: str
    process: int
    started: float
    alive: bool


@contextmanager
def working_on(folder: Path) -> Iterator[None]:
    """Work on a run directory alone; wait while another process does.

    Look again, inside the block, at whether the run is complete.
    """
    note = {"host": socket.gethostname(), "process": os.getpid(), "started": time.time()}
    path = _path(folder)
    with exclusive(path, json.dumps(note)), _beating(path):
        yield


def worker_of(folder: Path) -> Worker | None:
    """The process that works on a run directory, or that was killed while it did."""
    path = _path(folder)
    try:
        age = time.time() - path.stat().st_mtime
        note = json.loads(path.read_text(encoding="utf-8"))
        host, process, started = str(note["host"]), int(note["process"]), float(note["started"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    # A lock is not always visible on another machine: there, the last sign of life decides.
    alive = is_held(path) or (host != socket.gethostname() and age < _SILENT)
    return Worker(host, process, started, alive)


def _path(folder: Path) -> Path:
    return folder.parent / FOLDER / folder.name


@contextmanager
def _beating(path: Path) -> Iterator[None]:
    """Touch the file now and then, as a sign of life."""
    done = threading.Event()

    def beat() -> None:
        while not done.wait(_BEAT):
            with suppress(OSError):
                os.utime(path)

    thread = threading.Thread(target=beat, name="attnaudit-sign-of-life", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
