"""Lines, csv rows and JSON lines of a file, each with its location for error messages.

Functions yield (where, row), where `where` is "file, line 7". Bad rows go to a `BadRows`, which
raises or counts them.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.reading.row_errors import MALFORMED, UNDECODABLE, BadRows, RowError
from attnaudit.data.reading.sources import File

LONGEST = 1 << 20  # characters of a line, csv field or text; longer ones are not for a classifier


def lines(file: File, bad: BadRows, *, encoding: str = "utf-8") -> Iterator[tuple[str, str]]:
    """(where, text without line end) of each line that is not blank."""
    number = 0
    while raw := file.stream.readline(LONGEST + 1):
        number += 1
        where = f"{file.where}, line {number}"
        if len(raw) > LONGEST:
            _skip_line(file, raw)
            bad.handle(_too_long(where))
            continue
        with bad:
            text = decoded(raw, where, encoding, hint=encoding_hint(file, bad)).rstrip("\r\n")
            if number == 1:
                text = text.removeprefix("\ufeff")
            if text.strip():
                yield where, text


def _skip_line(file: File, raw: bytes) -> None:
    """Read on to the end of a line that began with `raw`."""
    while raw and not raw.endswith(b"\n"):
        raw = file.stream.readline(LONGEST)


def _too_long(where: str) -> InputError:
    return InputError(f"{where}: longer than {LONGEST:,} bytes. Is this the right file?")


def decoded(raw: bytes, where: str, encoding: str = "utf-8", *, hint: str = "") -> str:
    """The text of some bytes, or an error; `hint` is its message if given."""
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        if hint:
            raise RowError(f"{where}: {hint}", reason=UNDECODABLE) from error
        raise InputError(
            f"{where}: not {encoding.upper()} text ({error.reason} at byte {error.start}). "
            "Save the file as UTF-8."
        ) from error


def encoding_hint(file: File, bad: BadRows) -> str:
    """What to do about bytes that cannot be decoded; empty if the user cannot set the encoding."""
    if file.encoding is None:
        return ""
    other = "cp1252" if file.encoding != "cp1252" else "latin-1"
    return (
        f"not {file.encoding.upper()} text. Save the file as UTF-8, or name its encoding, "
        f"for example {bad.spell('encoding', other)}."
    )


def whole_text(file: File, *, encoding: str = "utf-8") -> str:
    """The content of a small file that is one text."""
    raw = file.stream.read(LONGEST + 1)
    if len(raw) > LONGEST:
        raise _too_long(file.where)
    return decoded(raw, file.where, encoding).removeprefix("\ufeff")


def json_rows(file: File, bad: BadRows) -> Iterator[tuple[str, dict[str, Any]]]:
    """(where, object) of each line of a jsonl file."""
    for where, text in lines(file, bad):
        with bad:
            try:
                row = DECODER.decode(text)
            except (RecursionError, ValueError) as error:
                raise InputError(
                    f"{where}: not JSON ({str(error)[:100]}), got {text[:60]!r}."
                ) from error
            yield where, checked_object(row, text, where)


def checked_object(row: Any, text: str, where: str) -> dict[str, Any]:
    """The row if it is a JSON object that can be encoded again; `text` is what it was read from."""
    if not isinstance(row, dict):
        raise InputError(f"{where}: expected a JSON object {{…}}, got {text[:60]!r}.")
    try:
        encodable = "\\u" not in text or _encodable(row)
    except RecursionError as error:  # deeper than it could be encoded, though it was decoded
        raise InputError(f"{where}: not JSON ({str(error)[:100]}), got {text[:60]!r}.") from error
    if not encodable:
        raise InputError(
            f"{where}: half of a surrogate pair, which is not a character, got {text[:60]!r}."
        )
    return row


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        duplicate = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {duplicate[:40]!r} occurs twice")
    return row


DECODER = json.JSONDecoder(parse_constant=_reject_constant, object_pairs_hook=_unique_keys)


def _encodable(row: dict[str, Any]) -> bool:
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def csv_rows(
    file: File,
    bad: BadRows,
    *,
    delimiter: str = ",",
    quoted: bool = True,
    columns: int | None = None,
) -> Iterator[tuple[str, list[str]]]:
    """(where, fields) of each row that is not blank; where is the row's first line.

    With `columns`, rows with another number of fields are bad.
    """
    source = _DecodedLines(file, encoding_hint(file, bad))
    reader = csv.reader(
        source,
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        strict=quoted,
    )
    while True:
        source.error = None
        where = f"{file.where}, line {source.number + 1}"
        limit = csv.field_size_limit(LONGEST)  # a global setting: restored at once
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            until = (
                f", read up to line {source.number}"
                if not where.endswith(f" {source.number}")
                else ""
            )
            problem = f"{where}: not a csv row ({error}{until}). Is a quotation mark missing?"
            bad.handle(source.error or RowError(problem, reason=MALFORMED))
            continue
        finally:
            csv.field_size_limit(limit)
        with bad:
            if source.error:
                raise source.error
            if not any(fields):
                continue
            if columns is not None and len(fields) != columns:
                raise InputError(
                    f"{where}: expected {columns} columns, got {len(fields)}: {str(fields)[:80]}."
                )
            yield where, fields


def table_rows(
    file: File, bad: BadRows, *, needs: Sequence[str], delimiter: str = ",", quoted: bool = True
) -> Iterator[tuple[str, dict[str, str]]]:
    """(where, {column: field}) of a csv file whose header has at least the columns in `needs`."""
    rows = csv_rows(file, bad, delimiter=delimiter, quoted=quoted)
    where, names = next(rows, (file.where, []))
    names = [name.strip() for name in names]
    for name in needs:
        if names.count(name) != 1:
            raise InputError(
                f"{where}: the header needs one column {name!r}, "
                f"got {', '.join(names)[:200] or 'nothing'}."
            )
    for where, fields in rows:
        with bad:
            if len(fields) != len(names):
                raise InputError(
                    f"{where}: expected {len(names)} columns as in the header, got {len(fields)}."
                )
            yield where, dict(zip(names, fields, strict=True))


class _DecodedLines:
    """Lines of text for csv.reader. An error is kept for its row: raising would end the reader."""

    def __init__(self, file: File, hint: str) -> None:
        self.file, self.hint, self.number = file, hint, 0
        self.error: InputError | None = None

    def __iter__(self) -> _DecodedLines:
        return self

    def __next__(self) -> str:
        raw = self.file.stream.readline(LONGEST + 1)
        if not raw:
            raise StopIteration
        self.number += 1
        where = f"{self.file.where}, line {self.number}"
        try:
            if len(raw) > LONGEST:
                _skip_line(self.file, raw)
                raise _too_long(where)
            text = decoded(raw, where, hint=self.hint)
        except InputError as error:
            self.error = self.error or error
            return "\n"
        return text.removeprefix("\ufeff") if self.number == 1 else text
