"""Bytes of a file or archive member: decompressed, with damage reported and bombs rejected."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import IO, Any

from attnaudit.core.errors import InputError

# Text compresses to about a fifth; what grows a hundredfold and beyond this size is a bomb.
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
_ENDING = re.compile("|".join(map(re.escape, _OPENERS)))
# What archive libraries raise on damage; an encrypted zip is a RuntimeError, a bad name or date in
# it a ValueError.
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


class damage_as_input_error:
    """Turn the errors of archive libraries into an InputError that names the file.

    A class, named like those of contextlib: it surrounds every read, and a generator would take
    longer than most of them.
    """

    def __init__(self, where: str) -> None:
        self.where = where

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Raise an InputError if there is an error of this kind."""
        if isinstance(error, _DAMAGE) and not isinstance(error, InputError):
            reason = str(error) or type(error).__name__
            raise InputError(
                f"{printable(self.where)}: damaged, cut short or unreadable ({printable(reason)}). "
                "Download the file again."
            ) from error


class Allowance:
    """How many bytes one compressed file may unpack to, all members together."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.limit = self.left = max(BOMB_SIZE, BOMB_RATIO * path.stat().st_size)

    def spend(self, count: int) -> None:
        """Count bytes that were unpacked; too many are an error."""
        self.left -= count
        if self.left < 0:
            raise InputError(
                f"{self.path}: unpacks to more than {self.limit:,} bytes, "
                f"over {BOMB_RATIO} times its size. "
                "This looks like a decompression bomb and is not read."
            )


class _GuardedStream(io.RawIOBase):
    """A stream that reports damage as an InputError and stops at a bomb."""

    def __init__(self, stream: IO[bytes], where: str, allowance: Allowance | None) -> None:
        self.stream, self.allowance = stream, allowance
        self.reporting = damage_as_input_error(where)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        with self.reporting:
            data = self.stream.read(len(buffer))
        buffer[: len(data)] = data
        if self.allowance is not None:
            self.allowance.spend(len(data))
        return len(data)


def guarded(stream: IO[bytes], where: str, allowance: Allowance | None) -> io.BufferedReader:
    """The stream with damage reported as an InputError, within an allowance if there is one."""
    # Buffered: readline on the bare wrapper would go byte by byte.
    return io.BufferedReader(_GuardedStream(stream, where, allowance), 1 << 16)


class _FirstBytes(io.RawIOBase):
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


def first_bytes(stream: IO[bytes], count: int) -> io.BufferedReader:
    """At most `count` bytes of a stream, for a preview."""
    return io.BufferedReader(_FirstBytes(stream, count), 1 << 16)


def decompressed(name: str, stream: IO[bytes], where: str, allowance: Allowance) -> IO[bytes]:
    """The stream, decompressed if the ending of the name says so."""
    opener = _OPENERS.get(_compressed_ending(name))
    raw = guarded(stream, where, None)
    if opener is None:
        return raw
    with damage_as_input_error(where):
        if not raw.peek(1):  # gzip would read it as an empty text
            raise EOFError("empty")
    return guarded(opener(raw, "rb"), where, allowance)


def printable(name: str) -> str:
    """A name for messages, with control characters and undecodable bytes as escapes."""
    return name if name.isprintable() else repr(name)[1:-1]


def uncompressed_name(name: str) -> str:
    """A path without the ending of a compressed file."""
    return str(PurePosixPath(name).with_suffix("")) if _compressed_ending(name) else name


def _compressed_ending(name: str) -> str:
    """The ending of the name if it is that of a compressed file, else nothing."""
    if not _ENDING.search(name):  # an archive has many thousand members: without a Path for each
        return ""
    ending = PurePosixPath(name).suffix
    return ending if ending in _OPENERS else ""
