"""The files of a corpus, in a folder or in a tar or zip archive, which is read in place.

Archives are untrusted input: members with paths outside the archive, links and decompression bombs
are rejected.
"""

from __future__ import annotations

import re
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path
from typing import IO

from attnaudit.core.errors import InputError
from attnaudit.data.reading.streams import (
    Allowance,
    damage_as_input_error,
    decompressed,
    guarded,
    printable,
    uncompressed_name,
)

LONGEST_HEADER = 1 << 16  # bytes a tar archive may use to name one member
_TARS = (".tgz", ".txz", ".tbz2")
Wanted = Callable[[str], bool]


@dataclass(frozen=True)
class File:
    """One file of a corpus, open for reading once."""

    name: str  # path within the corpus, with "/", without .gz, .xz or .bz2
    where: str  # for messages: the path on disk, and the member of an archive
    stream: IO[bytes]
    encoding: str | None = None  # of the file, if the user can set it; the stream is UTF-8


def is_archive(path: Path) -> bool:
    """Whether this is a tar or zip file, by its name."""
    return path.is_file() and (".tar" in path.suffixes or path.suffix in (".zip", *_TARS))


def files(place: Path, *patterns: str) -> Iterator[File]:
    """The files whose path, or the end of it, matches one of the patterns; all if there are none.

    Files are sorted by name in a folder and in the archive's order otherwise; each must be read
    before the next is requested. `place` may also be a single file, compressed or not.
    """
    seen: set[str] = set()
    # One expression for all of them, and compiled once: archives have many thousand members.
    matches = re.compile("|".join(translate(f"*/{pattern}") for pattern in patterns)).match
    with damage_as_input_error(str(place)):
        for file in _all_files(place, lambda name: matches(f"/{name}") is not None):
            if file.name in seen:
                raise InputError(
                    f"{file.where}: {file.name!r} is there twice. Remove one of the two."
                )
            seen.add(file.name)
            yield file


def _all_files(place: Path, wanted: Wanted) -> Iterator[File]:
    if is_archive(place):
        yield from _in_zip(place, wanted) if place.suffix == ".zip" else _in_tar(place, wanted)
    elif place.is_dir():
        for path in sorted(path for path in place.rglob("*") if path.is_file()):
            name = uncompressed_name(path.relative_to(place).as_posix())
            if wanted(name):
                with _opened(path) as stream:
                    yield File(printable(name), printable(str(path)), stream)
    else:
        with _opened(place) as stream:
            yield File(printable(uncompressed_name(place.name)), printable(str(place)), stream)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """A file's bytes, decompressed if its name ends in .gz, .xz or .bz2."""
    with damage_as_input_error(str(path)), path.open("rb") as stream:
        yield decompressed(path.name, stream, str(path), Allowance(path))


class _Member(tarfile.TarInfo):
    """A member of a tar archive. Long names are read into memory, so their length is limited."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Member:
        member = super().frombuf(buf, encoding, errors)
        if member.size < 0 or (member.type in _NAMING and member.size > LONGEST_HEADER):
            raise tarfile.ReadError(f"a header of {member.size:,} bytes")
        return member


_NAMING = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)


def _in_tar(path: Path, wanted: Wanted) -> Iterator[File]:
    allowance = Allowance(path)
    with (
        _opened(path) as stream,
        tarfile.open(fileobj=stream, mode="r|", tarinfo=_Member) as archive,
    ):
        for member in archive:
            _check_member(path, member.name)
            if member.isdir():
                continue
            if not member.isreg() or member.issparse():
                raise InputError(
                    f"{path}: the member {member.name!r} is a link, a device or has holes; "
                    "it is not a plain file. The archive is not read."
                )
            name = uncompressed_name(member.name.removeprefix("./"))
            if wanted(name):
                data = archive.extractfile(member)
                assert data is not None  # a regular file
                where = f"{path}: {member.name}"
                yield File(
                    printable(name),
                    printable(where),
                    decompressed(member.name, data, where, allowance),
                )
        _check_end(path, archive)


def _check_end(path: Path, archive: tarfile.TarFile) -> None:
    """Reject an archive without its two final blocks of zeros, which was cut between two members.

    Reading to the end also verifies the checksum of a compressed archive.
    """
    rest = archive.fileobj
    assert rest is not None  # it is open
    length = 0
    while block := rest.read(1 << 16):
        length += len(block)
        if block.strip(b"\0"):
            raise InputError(
                f"{path}: something follows the end of the archive, or a member's header is "
                "damaged. Download the file again, or unpack it and give the folder."
            )
    if length < tarfile.BLOCKSIZE:  # the first of the two blocks is read already
        raise InputError(f"{path}: the end of the archive is missing. Download the file again.")


def _in_zip(path: Path, wanted: Wanted) -> Iterator[File]:
    allowance = Allowance(path)
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            _check_member(path, member.filename)
            if member.is_dir():
                continue
            if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG):
                raise InputError(
                    f"{path}: the member {member.filename!r} is a link or a device, "
                    "not a plain file. The archive is not read."
                )
            name = uncompressed_name(member.filename)
            if wanted(name):
                where = f"{path}: {member.filename}"
                with archive.open(member) as data:
                    stream = guarded(data, where, allowance)
                    yield File(
                        printable(name),
                        printable(where),
                        decompressed(member.filename, stream, where, allowance),
                    )


def _check_member(path: Path, name: str) -> None:
    parts = name.replace("\\", "/").split("/")
    if name[:1] in ("/", "\\") or ".." in parts or name[1:2] == ":":
        raise InputError(
            f"{path}: the member {name!r} would lie outside the archive's folder. "
            "The archive is not read."
        )
