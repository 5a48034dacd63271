"""A lock file that one process holds at a time; it ends with its process, however that ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no flock
    fcntl = None  # type: ignore[assignment]


@contextmanager
def exclusive(path: Path, note: str = "") -> Iterator[None]:
    """Hold the lock file `path` for the length of a block, waiting for other processes.

    The file is removed at the end; the file of a process that was killed stays and is free. Where
    there are no locks (Windows, a folder that cannot be written), the block runs without one. Not
    reentrant: a second lock of the same path within the block would wait for ever.

    Parameters
    ----------
    path : its folder is made, and removed again when it is empty.
    note : what the file says while it is held.
    """
    handle = _acquire(path)
    if handle is None:
        yield
        return
    try:
        with suppress(OSError):  # a full disk: the lock holds without its note
            os.ftruncate(handle, 0)
            os.write(handle, note.encode())
        yield
    finally:
        # Removed before it is let go: whoever waits for it finds that the name is gone.
        with suppress(OSError):
            path.unlink()
        os.close(handle)
        with suppress(OSError):
            path.parent.rmdir()


def is_held(path: Path) -> bool:
    """Does a process on a machine whose locks are visible here hold this lock file?"""
    if fcntl is None:
        return False
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def _acquire(path: Path) -> int | None:
    """A handle of the locked file, or None where nothing can be locked."""
    if fcntl is None:
        return None
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except (FileNotFoundError, FileExistsError):
            # Another process has just removed the empty folder, unless a file is in its place.
            if path.parent.exists() and not path.parent.is_dir():
                return None
            continue
        except OSError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError:
            os.close(handle)
            return None
        except BaseException:  # interrupted while waiting
            os.close(handle)
            raise
        if _is_file_of(handle, path):
            return handle
        os.close(handle)  # the former holder has removed it: start again with a new file


def _is_file_of(handle: int, path: Path) -> bool:
    try:
        there = path.stat()
    except OSError:
        return False
    here = os.fstat(handle)
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
