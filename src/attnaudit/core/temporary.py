"""Temporary names next to an output, held by a lock: no two writers share one, and what a killed writer left can be told and cleaned up."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: age alone decides
    fcntl = None  # type: ignore[assignment]

DRAFT = ".draft-"  # a folder that is being written
REPLACED = (
    ".replaced-"  # the folder that a finished draft is taking the place of: .replaced-TOKEN-NAME
)
_YOUNG = 30.0  # seconds: its writer may not have locked it yet
_OLD = 24 * 3600.0  # seconds: given up, on a file system without locks


def token() -> str:
    """Unique for every call in every process."""
    return f"{os.getpid()}-{secrets.token_hex(6)}"


def is_temporary(path: Path) -> bool:
    return path.name.startswith((DRAFT, REPLACED))


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Lock a folder for the length of a block. The lock follows it when it is renamed, and ends with the process however that ends."""
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks: age alone decides
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def is_abandoned(folder: Path) -> bool:
    """Was this temporary folder left by a writer that is gone?"""
    try:
        age = time.time() - folder.stat().st_mtime
        if age < _YOUNG:
            return False
        if fcntl is None:
            return age > _OLD
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return age > _OLD
    finally:
        os.close(handle)
    return True


def tidy(parent: Path) -> None:
    """Remove abandoned drafts below `parent`; put a folder back whose replacement never came."""
    for path in sorted(parent.glob(f"{REPLACED}*")):
        if is_abandoned(path):
            target = parent / path.name.removeprefix(REPLACED).split("-", 2)[2]
            if target.exists():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.rename(target)
    for path in sorted(parent.glob(f"{DRAFT}*")):
        if path.is_dir() and is_abandoned(path):
            shutil.rmtree(path, ignore_errors=True)
