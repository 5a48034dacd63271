"""The files of a corpus, wherever they lie: in a folder, or in a tar or zip archive that is read in place.

An archive is input from outside: members that would lie outside it, links and decompression bombs are refused.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import IO, Any

from attnaudit.errors import InputError

# Text shrinks to a fifth or so; what grows a hundredfold and past a size that fits into memory is a bomb.
BOMB_RATIO = 100
BOMB_SIZE = 200_000_000
_OPENERS: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".tgz": gzip.open,
    ".xz": lzma.open,
    ".txz": lzma.open,
    ".bz2": bz2.open,
}
Wanted = Callable[[str], bool]
_DAMAGE = (EOFError, OSError, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, zlib.error, NotImplementedError)  # fmt: skip


@dataclass(frozen=True)
class File:
    """One file of a corpus, open for reading once."""

    name: str  # path within the corpus, with "/", without .gz, .xz or .bz2
    where: str  # for people: the path on disk, with the archive's name before the member's
    stream: IO[bytes]


def is_archive(path: Path) -> bool:
    return path.is_file() and (".tar" in path.suffixes or path.suffix in (".zip", ".tgz", ".txz"))


def files(place: Path, *patterns: str) -> Iterator[File]:
    """The files whose name, or the end of it, fits one of the patterns. Use each before asking for the next.

    A folder gives them by name, an archive in its own order. `place` may also be a single file, compressed or not.
    """

    def wanted(name: str) -> bool:
        return not patterns or any(fnmatchcase(f"/{name}", f"*/{pattern}") for pattern in patterns)

    with _told(place):
        if is_archive(place):
            yield from _in_zip(place, wanted) if place.suffix == ".zip" else _in_tar(place, wanted)
        elif place.is_dir():
            for path in sorted(each for each in place.rglob("*") if each.is_file()):
                name = _plain(path.relative_to(place).as_posix())
                if wanted(name):
                    with _told(path), _opened(path) as stream:
                        yield File(name, str(path), stream)
        else:
            name = _plain(place.name)
            with _opened(place) as stream:
                yield File(name, str(place), stream)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Damage met while reading, told in words. Errors of the reader itself pass through."""
    try:
        yield
    except _DAMAGE as error:
        told = str(error) or type(error).__name__
        raise InputError(f"{path}: damaged, cut short or unreadable ({told}). Take the file anew.") from error


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """A file's bytes, decompressed by its ending."""
    with path.open("rb") as stream:
        yield _unpacked(path.name, stream, path)


class _Bounded(io.RawIOBase):
    """Counts what a compressed file of this size gives, and stops at a bomb."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self.stream, self.path = stream, path
        self.limit = max(BOMB_SIZE, BOMB_RATIO * path.stat().st_size)
        self.given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self.stream.read(len(buffer))
        buffer[: len(data)] = data
        self.given += len(data)
        if self.given > self.limit:
            raise InputError(
                f"{self.path}: unpacks to more than {self.limit:,} bytes, over {BOMB_RATIO} times its size. "
                "This looks like a decompression bomb and is not read."
            )
        return len(data)


def _in_tar(path: Path, wanted: Wanted) -> Iterator[File]:
    if path.suffix == ".tar":
        _check_end(path)
    with _opened(path) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            _check_member(path, member.name)
            if member.isdir():
                continue
            if not member.isfile():
                raise InputError(
                    f"{path}: the member {member.name!r} is a link or a device, not a file. The archive is not read."
                )
            name = _plain(member.name.removeprefix("./"))
            if wanted(name):
                data = archive.extractfile(member)
                assert data is not None  # a regular file
                yield File(name, f"{path}: {member.name}", _unpacked(member.name, data, path))


def _in_zip(path: Path, wanted: Wanted) -> Iterator[File]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            _check_member(path, member.filename)
            if member.is_dir():
                continue
            if (member.external_attr >> 16) & 0o170000 == 0o120000:
                raise InputError(
                    f"{path}: the member {member.filename!r} is a link, not a file. The archive is not read."
                )
            name = _plain(member.filename)
            if wanted(name):
                with archive.open(member) as data:
                    stream = _unpacked(member.filename, _bounded(data, path), path)
                    yield File(name, f"{path}: {member.filename}", stream)


def _unpacked(name: str, stream: IO[bytes], disk: Path) -> IO[bytes]:
    """The bytes, decompressed if the name ends so. `disk` is the file that holds them: its size bounds what may come out."""
    opener = _OPENERS.get(PurePosixPath(name).suffix)
    return stream if opener is None else _bounded(opener(stream, "rb"), disk)


def _bounded(stream: IO[bytes], disk: Path) -> IO[bytes]:
    # Buffered: readline on the bare wrapper would go byte by byte.
    return io.BufferedReader(_Bounded(stream, disk), 1 << 16)


def _check_member(path: Path, name: str) -> None:
    parts = PurePosixPath(name.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts or (len(name) > 1 and name[1] == ":"):
        raise InputError(
            f"{path}: the member {name!r} would lie outside the archive's folder. The archive is not read."
        )


def _check_end(path: Path) -> None:
    """A tar archive ends in two blocks of zeros; one that was cut between two members would otherwise look whole."""
    with path.open("rb") as stream:
        stream.seek(-min(1024, path.stat().st_size), io.SEEK_END)
        if stream.read().strip(b"\0") or path.stat().st_size < 1024:
            raise InputError(f"{path}: the end of the archive is missing. Take the file anew.")


def _plain(name: str) -> str:
    return str(PurePosixPath(name).with_suffix("")) if PurePosixPath(name).suffix in _OPENERS else name
