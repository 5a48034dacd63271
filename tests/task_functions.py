"""Functions that tests run in other processes, which import them by name."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from attnaudit.core.errors import InputError
from attnaudit.core.notices import notice


def double(number: int) -> int:
    return 2 * number


def fail(text: str) -> None:
    raise InputError(text)


def leave() -> None:
    sys.exit("enough")


def give_function() -> object:
    return lambda: None  # cannot be sent to another process


def notify(text: str) -> None:
    print("this line goes to no terminal")
    notice(text)


def end_process(code: int) -> None:
    print("the last words")
    os._exit(code)


def kill_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_process_after(seconds: float) -> None:
    time.sleep(seconds)
    kill_process()


def die_once(path: str) -> int:
    """Add a line to a file; the first caller dies, others return the number of lines."""
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(f"{os.getpid()}\n")
    attempts = len(Path(path).read_text(encoding="utf-8").splitlines())
    if attempts == 1:
        kill_process()
    return attempts


def wait_for(path: str, started: str) -> int:
    """Write the process id to `started`, and wait until the file `path` exists."""
    Path(started).with_suffix(".draft").write_text(str(os.getpid()), encoding="utf-8")
    Path(started).with_suffix(".draft").rename(started)
    deadline = time.monotonic() + 60
    while not Path(path).exists():
        if time.monotonic() > deadline:
            raise TimeoutError(path)
        time.sleep(0.02)
    return os.getpid()


def torch_thread_count() -> tuple[int, str | None]:
    import torch

    return torch.get_num_threads(), os.environ.get("OMP_NUM_THREADS")
