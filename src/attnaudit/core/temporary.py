"""Temporary names next to an output, and locks.

No two writers share a name; a writer's lock ends with its process, so that what a killed writer
left behind can be recognised and cleaned up.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no flock: age alone decides
    fcntl = None  # type: ignore[assignment]

_DRAFT = ".attnaudit-draft-"  # a file or folder that is being written
_REPLACED = ".attnaudit-replaced-"  # a folder that a finished draft is replacing
_TOKEN = r"\d+-[0-9a-f]{12}"
# The whole name is matched, so that a user's own .draft-thesis is never taken for ours.
_DRAFT_NAME = re.compile(rf"{re.escape(_DRAFT)}{_TOKEN}")
_REPLACED_NAME = re.compile(rf"{re.escape(_REPLACED)}{_TOKEN}-(?P<name>.+)", re.DOTALL)
_YOUNG = 30.0  # seconds: its writer may not have locked it yet
_OLD = 24 * 3600.0  # seconds: given up, where there are no locks

_locked = threading.local()  # .folders: what this thread holds, by device and inode


def token() -> str:
    """A text that is unique for every call in every process."""
    return f"{os.getpid()}-{secrets.token_hex(6)}"


def draft_name() -> str:
    """A new name for a file or folder that is being written."""
    return f"{_DRAFT}{token()}"


def replaced_name(name: str) -> str:
    """A new name for the folder `name` while its replacement is moved in."""
    return f"{_REPLACED}{token()}-{name}"


def is_temporary(path: Path) -> bool:
    """Is this a draft, or a folder that is being replaced?"""
    return bool(_DRAFT_NAME.fullmatch(path.name) or _REPLACED_NAME.fullmatch(path.name))


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Lock a folder for the length of a block, waiting for others; the same thread may lock twice.

    The lock stays with the folder when it is renamed, and ends with the process. Where the folder
    cannot be locked (Windows, some network file systems), the block runs without a lock.
    """
    handle = _open(folder)
    if handle is None:
        yield
        return
    folders = _locked.__dict__.setdefault("folders", set())
    status = os.fstat(handle)
    key = (status.st_dev, status.st_ino)
    is_outer = key not in folders
    try:
        if is_outer:
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX)
            folders.add(key)
        yield
    finally:
        if is_outer:
            folders.discard(key)
        os.close(handle)


@contextmanager
def held_at_once(folder: Path) -> Iterator[bool]:
    """Lock a folder for the length of a block, or yield False if another process holds its lock.

    Where the folder cannot be locked, the block runs without a lock and is given True.
    """
    handle = _open(folder)
    if handle is None:
        yield True
        return
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = True
        except BlockingIOError:
            is_ours = False
        except OSError:  # a file system without locks
            is_ours = True
        yield is_ours
    finally:
        os.close(handle)


def _open(folder: Path) -> int | None:
    if fcntl is None:
        return None
    try:
        return os.open(folder, os.O_RDONLY)
    except OSError:
        return None


def is_abandoned(path: Path) -> bool:
    """Was this temporary file or folder left by a writer that is gone?

    A folder is abandoned when nobody holds its lock; a file, which is not locked, after a day.
    """
    try:
        age = time.time() - path.stat().st_mtime
    except OSError:
        return False
    if age < _YOUNG:
        return False
    if not path.is_dir():
        return age > _OLD
    handle = _open(path)
    if handle is None:
        return age > _OLD
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
    """Remove abandoned drafts in `parent`, and put back a folder whose replacement never came."""
    for path in sorted(parent.glob(f"{_REPLACED}*")):
        match = _REPLACED_NAME.fullmatch(path.name)
        if match is None or not is_abandoned(path):
            continue
        original = parent / match["name"]
        if original.exists():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):  # another process was faster
                path.rename(original)
    for path in sorted(parent.glob(f"{_DRAFT}*")):
        if _DRAFT_NAME.fullmatch(path.name) is None or not is_abandoned(path):
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink()
