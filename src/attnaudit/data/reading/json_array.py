"""Objects of a .json file: one array of objects, each with the line it begins on; or one object per line, as in .jsonl."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.reading.row_errors import BadRows
from attnaudit.data.reading.rows import DECODER, checked_object, encoding_hint, json_rows
from attnaudit.data.reading.sources import File

LARGEST = 500_000_000  # bytes of an array, which is read at once
_BLANK = re.compile(r"[ \t\n\r]*")


def json_file_rows(file: File, bad: BadRows) -> Iterator[tuple[str, dict[str, Any]]]:
    """(where, object) of each object in the array, or of each line where the file does not begin with an array."""
    head = file.stream.peek(4096)[:4096]  # type: ignore[attr-defined]  # `files` opens buffered streams
    if not head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
        yield from json_rows(file, bad)
        return
    raw = file.stream.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise InputError(
            f"{file.where}: an array of more than {LARGEST:,} bytes. Write it as .jsonl, one object per line."
        )
    try:
        text = raw.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        where = f"{file.where}, line {1 + raw.count(10, 0, error.start)}"
        raise InputError(f"{where}: {encoding_hint(file, bad)}") from error
    yield from _array_rows(text, file.where, bad)


def _array_rows(text: str, name: str, bad: BadRows) -> Iterator[tuple[str, dict[str, Any]]]:
    line, counted = 1, 0
    at = _after_blanks(text, 0) + 1  # behind the bracket
    first = True
    while True:
        at = _after_blanks(text, at)
        line, counted = line + text.count("\n", counted, at), at
        where = f"{name}, line {line}"
        mark = text[at : at + 1]
        if mark == "]":
            if text[at + 1 :].strip():
                raise InputError(
                    f"{where}: something follows the end of the array: {text[at + 1 :][:60]!r}."
                )
            return
        if not first:
            if mark != ",":
                raise InputError(
                    f"{where}: not JSON: expected a comma or the end of the array, got {mark!r}."
                )
            at = _after_blanks(text, at + 1)
            line, counted = line + text.count("\n", counted, at), at
            where = f"{name}, line {line}"
        first = False
        try:
            row, end = DECODER.raw_decode(text, at)
        except (RecursionError, ValueError) as error:
            # What follows cannot be told apart any more, so no skipping of rows would mend it.
            raise InputError(
                f"{where}: not JSON ({str(error)[:100]}), got {text[at : at + 60]!r}."
            ) from error
        with bad:
            yield where, checked_object(row, text[at:end], where)
        at = end


def _after_blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    assert found is not None  # it fits no blanks too
    return found.end()
