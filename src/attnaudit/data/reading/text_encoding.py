"""The bytes of a user's text file as UTF-8, whatever its encoding and line ends; what is no text is named."""

from __future__ import annotations

import codecs
import io
from dataclasses import replace
from typing import IO

from attnaudit.core.errors import InputError
from attnaudit.data.reading.option_names import Spelling
from attnaudit.data.reading.sources import File

_HEAD = 1 << 16  # bytes that are looked at
_MARKS = (  # the longer ones first: UTF-32 begins like UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NO_ENCODING_OF_FILES = ("idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape")
_NO_TEXT = {
    b"PK\x03\x04": "a zip archive or an Excel workbook. Unpack it, or save the sheet as CSV UTF-8",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook. Save the sheet as CSV UTF-8",
    b"PAR1": "a Parquet file. Let its name end in .parquet",
    b"\x1f\x8b": "compressed by gzip. Let its name end in .gz",
    b"\xfd7zXZ\x00": "compressed by xz. Let its name end in .xz",
    b"%PDF-": "a PDF document. Export its texts as csv",
}


def _undecodable(error: UnicodeError) -> tuple[str, int]:
    """Half of a surrogate pair for bytes that are no text: as UTF-8 it is rejected in the line where it stands."""
    assert isinstance(error, UnicodeDecodeError)  # only registered for decoding
    return "\udcff", error.end


codecs.register_error("attnaudit.undecodable", _undecodable)


def checked_encoding(name: str | None, spell: Spelling) -> str | None:
    """The encoding under its usual name, or an error if Python knows no such encoding of texts."""
    if name is None:
        return None
    try:
        if not isinstance(name, str):
            raise LookupError
        b"a".decode(name, "replace")  # of no bytes, Python would not look at the name
        found = codecs.lookup(name).name
        if found.replace("-", "_") in _NO_ENCODING_OF_FILES:
            raise LookupError
        return found
    except (LookupError, ValueError):
        raise InputError(
            f"There is no text encoding {name!r}. Write for example {spell('encoding', 'cp1252')}, "
            f"{spell('encoding', 'utf-16')} or {spell('encoding', 'utf-8')}."
        ) from None


def as_utf8(file: File, encoding: str | None, spell: Spelling) -> File:
    """The same file with its bytes in UTF-8 and its encoding noted; by its byte order mark if none is given.

    Lone carriage returns become line ends where the beginning of the file has no other.
    """
    assert isinstance(file.stream, io.BufferedReader)  # `files` opens nothing else
    head = file.stream.peek(_HEAD)[:_HEAD]
    for magic, what in _NO_TEXT.items():
        if head.startswith(magic):
            raise InputError(f"{file.where}: this is no text file but {what}.")
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    if encoding is None and marked is None and head.count(0) > len(head) // 4:
        guess = "utf-16-le" if head[1::2].count(0) >= head[0::2].count(0) else "utf-16-be"
        raise InputError(
            f"{file.where}, line 1: many NUL bytes, as in UTF-16 without a byte order mark. "
            f"Save the file as UTF-8, or write {spell('encoding', guess)}."
        )
    if encoding is not None and marked == "utf-8-sig" and not encoding.startswith("utf-8"):
        raise InputError(
            f"{file.where}: it begins with the byte order mark of UTF-8, but {spell('encoding', encoding)} "
            "was given. Leave this option out."
        )
    chosen = encoding or marked or "utf-8"
    try:
        decoded_head = codecs.getincrementaldecoder(chosen)("replace").decode(head)
    except UnicodeError as error:  # UTF-32 without a byte order mark
        raise InputError(
            f"{file.where}, line 1: not {chosen.upper()} text ({error}). Give another encoding, or leave it out."
        ) from error
    old_mac = "\r" in decoded_head and "\n" not in decoded_head
    plain = chosen in ("utf-8", "utf-8-sig")  # the readers of lines drop the mark
    shown = "utf-8" if plain else chosen
    if plain and not old_mac:
        return replace(file, encoding=shown)
    recoded = _Recoded(file.stream, "utf-8" if plain else chosen, file.where, old_mac=old_mac)
    return replace(file, encoding=shown, stream=io.BufferedReader(recoded, _HEAD))


class _Recoded(io.RawIOBase):
    """A stream in another encoding, as UTF-8. Bytes that cannot be decoded become bytes that are no UTF-8."""

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
            except UnicodeError as error:  # a codec that does not ask the handler
                raise InputError(f"{self.where}: not {self.encoding} text ({error}).") from error
            if self.old_mac:
                text = text.replace("\r", "\n")
            self.pending = text.encode("utf-8", "surrogatepass")
        count = min(len(buffer), len(self.pending))
        buffer[:count] = self.pending[:count]
        self.pending = self.pending[count:]
        return count
