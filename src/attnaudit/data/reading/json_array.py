"""Objects of a .json file: one array of objects, or one object per line as in .jsonl."""

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
    """(where, object) of each object in the array, or of each line if there is no array."""
    head = file.stream.peek(4096)[:4096]  # type: ignore[attr-defined]  # streams are buffered
    if not head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
        yield from json_rows(file, bad)
        return
    raw = file.stream.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise InputError(
            f"{file.where}: an array of more than {LARGEST:,} bytes. "
            "Write it as .jsonl, one object per line."
        )
    try:
        text = raw.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        where = f"{file.where}, line {1 + raw.count(10, 0, error.start)}"
        raise InputError(f"{where}: {encoding_hint(file, bad)}") from error
    yield from _array_rows(text, file.where, bad)


def _array_rows(text: str, name: str, bad: BadRows) -> Iterator[tuple[str, dict[str, Any]]]:
    """(where, object) of each object, where each is the line that the object begins on."""
    line, counted = 1, 0
    position = _after_blanks(text, 0) + 1  # after the bracket
    first = True
    while True:
        position = _after_blanks(text, position)
        line, counted = line + text.count("\n", counted, position), position
        where = f"{name}, line {line}"
        character = text[position : position + 1]
        if character == "]":
            rest = text[position + 1 :]
            if rest.strip():
                raise InputError(f"{where}: text after the end of the array: {rest[:60]!r}.")
            return
        if not first:
            if character != ",":
                raise InputError(
                    f"{where}: not JSON: expected a comma or the end of the array, "
                    f"got {character!r}."
                )
            position = _after_blanks(text, position + 1)
            line, counted = line + text.count("\n", counted, position), position
            where = f"{name}, line {line}"
        first = False
        try:
            row, end = DECODER.raw_decode(text, position)
        except (RecursionError, ValueError) as error:
            # Where the next object begins is unknown, so this row cannot be skipped.
            raise InputError(
                f"{where}: not JSON ({str(error)[:100]}), got {text[position : position + 60]!r}."
            ) from error
        with bad:
            yield where, checked_object(row, text[position:end], where)
        position = end


def _after_blanks(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    assert match is not None  # it matches the empty string too
    return match.end()
