"""A user's text file as UTF-8, whatever its encoding and line ends; other files are rejected."""

from __future__ import annotations

import codecs
import io
from dataclasses import replace
from typing import IO

from attnaudit.core.errors import InputError
from attnaudit.data.reading.option_names import Spelling
from attnaudit.data.reading.sources import File

_HEAD = 1 << 16  # bytes from which the encoding is inferred
_BYTE_ORDER_MARKS = (  # the longer ones first: UTF-32 begins like UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NOT_FOR_FILES = ("idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape")
_NOT_TEXT = {
    b"PK\x03\x04": "a zip archive or an Excel workbook. Unpack it, or save the sheet as CSV UTF-8",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook. Save the sheet as CSV UTF-8",
    b"PAR1": "a Parquet file. Rename it to end in .parquet",
    b"\x1f\x8b": "compressed by gzip. Rename it to end in .gz",
    b"\xfd7zXZ\x00": "compressed by xz. Rename it to end in .xz",
    b"%PDF-": "a PDF document. Export its texts as csv",
}


def _undecodable(error: UnicodeError) -> tuple[str, int]:
    """Replace undecodable bytes by half a surrogate pair, which is later rejected with its line."""
    assert isinstance(error, UnicodeDecodeError)  # only registered for decoding
    return "\udcff", error.end


codecs.register_error("attnaudit.undecodable", _undecodable)


def checked_encoding(name: str | None, spell: Spelling) -> str | None:
    """Python's name of an encoding, or an error if there is no such text encoding."""
    if name is None:
        return None
    try:
        if not isinstance(name, str):
            raise LookupError
        b"a".decode(name, "replace")  # for empty bytes Python would not check the name
        official = codecs.lookup(name).name
        if official.replace("-", "_") in _NOT_FOR_FILES:
            raise LookupError
        return official
    except (LookupError, ValueError):
        raise InputError(
            f"There is no text encoding {name!r}. Write for example {spell('encoding', 'cp1252')}, "
            f"{spell('encoding', 'utf-16')} or {spell('encoding', 'utf-8')}."
        ) from None


def as_utf8(file: File, encoding: str | None, spell: Spelling) -> File:
    """The file with its bytes in UTF-8 and its encoding noted.

    If omitted, the encoding is inferred from the byte order mark, else UTF-8. Lone carriage returns
    become line ends if the beginning of the file has no others.
    """
    assert isinstance(file.stream, io.BufferedReader)  # `files` opens nothing else
    head = file.stream.peek(_HEAD)[:_HEAD]
    for magic, kind in _NOT_TEXT.items():
        if head.startswith(magic):
            raise InputError(f"{file.where}: this is not a text file but {kind}.")
    marked = next((name for mark, name in _BYTE_ORDER_MARKS if head.startswith(mark)), None)
    if encoding is None and marked is None and head.count(0) > len(head) // 4:
        guess = "utf-16-le" if head[1::2].count(0) >= head[0::2].count(0) else "utf-16-be"
        raise InputError(
            f"{file.where}, line 1: many NUL bytes, as in UTF-16 without a byte order mark. "
            f"Save the file as UTF-8, or write {spell('encoding', guess)}."
        )
    if encoding is not None and marked == "utf-8-sig" and not encoding.startswith("utf-8"):
        raise InputError(
            f"{file.where}: it begins with the byte order mark of UTF-8, "
            f"but {spell('encoding', encoding)} was given. Leave this option out."
        )
    chosen = encoding or marked or "utf-8"
    try:
        decoded_head = codecs.getincrementaldecoder(chosen)("replace").decode(head)
    except UnicodeError as error:  # UTF-32 without a byte order mark
        raise InputError(
            f"{file.where}, line 1: not {chosen.upper()} text ({error}). "
            "Give another encoding, or leave it out."
        ) from error
    old_mac = "\r" in decoded_head and "\n" not in decoded_head
    plain = chosen in ("utf-8", "utf-8-sig")  # the readers of lines drop the byte order mark
    name = "utf-8" if plain else chosen
    if plain and not old_mac:
        return replace(file, encoding=name)
    recoded = _Recoded(file.stream, name, file.where, old_mac=old_mac)
    return replace(file, encoding=name, stream=io.BufferedReader(recoded, _HEAD))


class _Recoded(io.RawIOBase):
    """A stream in another encoding, as UTF-8. Undecodable bytes become invalid UTF-8."""

    def __init__(self, stream: IO[bytes], encoding: str, where: str, *, old_mac: bool) -> None:
        self.stream, self.where, self.old_mac, self.encoding = stream, where, old_mac, encoding
        self.decoder = codecs.getincrementaldecoder(encoding)("attnaudit.undecodable")
        self.pending = b""
        self.ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self.pending and not self.ended:
            data = self.stream.read(_HEAD)
            self.ended = not data
            try:
                text = self.decoder.decode(data, final=self.ended)
            except UnicodeError as error:  # a codec that does not call the error handler
                raise InputError(f"{self.where}: not {self.encoding} text ({error}).") from error
            if self.old_mac:
                text = text.replace("\r", "\n")
            self.pending = text.encode("utf-8", "surrogatepass")
        count = min(len(buffer), len(self.pending))
        buffer[:count] = self.pending[:count]
        self.pending = self.pending[count:]
        return count
