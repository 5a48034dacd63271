"""The bytes of a file or of an archive's member: decompressed by its name, damage told in words, and bombs refused."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

from attnaudit.core.errors import InputError

# Text shrinks to a fifth or so; what grows a hundredfold and past a size that fits into memory is a bomb.
BOMB_RATIO = 100
BOMB_SIZE = 200_000_000
_OPENERS: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".tgz": gzip.open,
    ".xz": lzma.open,
    ".txz": lzma.open,
    ".bz2": bz2.open,
    ".tbz2": bz2.open,
}
# What the libraries for archives raise on damage; an encrypted zip is a RuntimeError, a bad name or date in it a ValueError.
_DAMAGE = (
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    lzma.LZMAError,
    struct.error,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)


@contextmanager
def told(where: str) -> Iterator[None]:
    """Damage met while reading, told in words. What is told already passes through."""
    try:
        yield
    except InputError:
        raise
    except _DAMAGE as error:
        reason = str(error) or type(error).__name__
        raise InputError(
            f"{shown(where)}: damaged, cut short or unreadable ({shown(reason)}). Take the file anew."
        ) from error


class Allowance:
    """What may come out of one compressed file, all its members together: more is a bomb."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.limit = self.left = max(BOMB_SIZE, BOMB_RATIO * path.stat().st_size)

    def spend(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise InputError(
                f"{self.path}: unpacks to more than {self.limit:,} bytes, over {BOMB_RATIO} times its size. "
                "This looks like a decompression bomb and is not read."
            )


class _Stream(io.RawIOBase):
    """A stream whose damage is told in words wherever it is read, and that stops at a bomb."""

    def __init__(self, stream: IO[bytes], where: str, allowance: Allowance | None) -> None:
        self.stream, self.where, self.allowance = stream, where, allowance

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        with told(self.where):
            data = self.stream.read(len(buffer))
        buffer[: len(data)] = data
        if self.allowance is not None:
            self.allowance.spend(len(data))
        return len(data)


def watched(stream: IO[bytes], where: str, allowance: Allowance | None) -> io.BufferedReader:
    # Buffered: readline on the bare wrapper would go byte by byte.
    return io.BufferedReader(_Stream(stream, where, allowance), 1 << 16)


class _Beginning(io.RawIOBase):
    """The first bytes of a stream."""

    def __init__(self, stream: IO[bytes], count: int) -> None:
        self.stream, self.left = stream, count

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self.stream.read(min(len(buffer), self.left))
        buffer[: len(data)] = data
        self.left -= len(data)
        return len(data)


def beginning(stream: IO[bytes], count: int) -> io.BufferedReader:
    """At most `count` bytes of a stream, for a look at it."""
    return io.BufferedReader(_Beginning(stream, count), 1 << 16)


def unpacked(name: str, stream: IO[bytes], where: str, allowance: Allowance) -> IO[bytes]:
    """The bytes, decompressed if the name ends so."""
    opener = _OPENERS.get(PurePosixPath(name).suffix)
    safe = watched(stream, where, None)
    if opener is None:
        return safe
    with told(where):
        if not safe.peek(1):  # gzip would take it for an empty text
            raise EOFError("empty")
    return watched(opener(safe, "rb"), where, allowance)


def shown(name: str) -> str:
    """Names come from outside too: bytes that are no text and control characters as escapes."""
    return name if name.isprintable() else repr(name)[1:-1]


def plain_name(name: str) -> str:
    return (
        str(PurePosixPath(name).with_suffix("")) if PurePosixPath(name).suffix in _OPENERS else name
    )
