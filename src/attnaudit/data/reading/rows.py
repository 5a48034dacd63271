"""Lines, csv rows and JSON lines of a file, each with its place for error messages; bad ones stop the reading or are counted."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.reading.row_errors import MALFORMED, UNDECODABLE, BadRows, RowError
from attnaudit.data.reading.sources import File

LONGEST = (
    1 << 20
)  # characters of a line, a csv field or a text; what is longer is not a text for a classifier


def lines(file: File, bad: BadRows, *, encoding: str = "utf-8") -> Iterator[tuple[str, str]]:
    """(where, text without its line end) of each line that is not blank."""
    number = 0
    while raw := file.stream.readline(LONGEST + 1):
        number += 1
        where = f"{file.where}, line {number}"
        if len(raw) > LONGEST:
            while raw and not raw.endswith(b"\n"):  # the rest of it, piece by piece
                raw = file.stream.readline(LONGEST)
            bad.met(
                InputError(
                    f"{where}: longer than {LONGEST:,} bytes. Is the file what it should be?"
                )
            )
            continue
        with bad:
            text = decoded(raw, where, encoding, hint=encoding_hint(file, bad)).rstrip("\r\n")
            if number == 1:
                text = text.removeprefix("\ufeff")
            if text.strip():
                yield where, text


def decoded(raw: bytes, where: str, encoding: str = "utf-8", *, hint: str = "") -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        if hint:
            raise RowError(f"{where}: {hint}", reason=UNDECODABLE) from error
        raise InputError(
            f"{where}: not {encoding.upper()} text ({error.reason} at byte {error.start}). Save the file as UTF-8."
        ) from error


def encoding_hint(file: File, bad: BadRows) -> str:
    """What to do about bytes that are no text, where the user may name the encoding."""
    if file.encoding is None:
        return ""
    other = "cp1252" if file.encoding != "cp1252" else "latin-1"
    return (
        f"not {file.encoding.upper()} text. Save the file as UTF-8, or name its encoding, "
        f"for example {bad.spell('encoding', other)}."
    )


def whole_text(file: File, *, encoding: str = "utf-8") -> str:
    """All of a small file that is one text."""
    raw = file.stream.read(LONGEST + 1)
    if len(raw) > LONGEST:
        raise InputError(
            f"{file.where}: longer than {LONGEST:,} bytes. Is the file what it should be?"
        )
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
    """A JSON object of characters that can be written; `text` is what it was read from."""
    if not isinstance(row, dict):
        raise InputError(f"{where}: expected a JSON object {{…}}, got {text[:60]!r}.")
    if "\\u" in text and not _encodable(row):
        raise InputError(
            f"{where}: half of a surrogate pair, which is no character, got {text[:60]!r}."
        )
    return row


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:40]!r} is there twice")
    return row


DECODER = json.JSONDecoder(parse_constant=_no_number, object_pairs_hook=_unique_keys)


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
    """(where, fields) of each row that is not blank; of `columns` fields, if given. The place is the row's first line."""
    source = _Decoded(file, encoding_hint(file, bad))
    reader = csv.reader(
        source,
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        strict=quoted,
    )
    while True:
        source.trouble = None
        where = f"{file.where}, line {source.number + 1}"
        limit = csv.field_size_limit(LONGEST)  # a setting of the whole process: put back at once
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
            bad.met(source.trouble or RowError(problem, reason=MALFORMED))
            continue
        finally:
            csv.field_size_limit(limit)
        with bad:
            if source.trouble:
                raise source.trouble
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
    """(where, {column: field}) of a csv file with a header that names at least the columns in `needs`."""
    rows = csv_rows(file, bad, delimiter=delimiter, quoted=quoted)
    where, names = next(rows, (file.where, []))
    names = [name.strip() for name in names]
    for name in needs:
        if names.count(name) != 1:
            raise InputError(
                f"{where}: the header needs one column {name!r}, got {', '.join(names)[:200] or 'nothing'}."
            )
    for where, fields in rows:
        with bad:
            if len(fields) != len(names):
                raise InputError(
                    f"{where}: expected {len(names)} columns as in the header, got {len(fields)}."
                )
            yield where, dict(zip(names, fields, strict=True))


class _Decoded:
    """Lines of text for csv.reader, which must not be stopped by one bad line: trouble is kept until its row is out."""

    def __init__(self, file: File, hint: str) -> None:
        self.file, self.hint, self.number = file, hint, 0
        self.trouble: InputError | None = None

    def __iter__(self) -> _Decoded:
        return self

    def __next__(self) -> str:
        raw = self.file.stream.readline(LONGEST + 1)
        if not raw:
            raise StopIteration
        self.number += 1
        where = f"{self.file.where}, line {self.number}"
        try:
            if len(raw) > LONGEST:
                while raw and not raw.endswith(b"\n"):
                    raw = self.file.stream.readline(LONGEST)
                raise InputError(
                    f"{where}: longer than {LONGEST:,} bytes. Is the file what it should be?"
                )
            text = decoded(raw, where, hint=self.hint)
        except InputError as error:
            self.trouble = self.trouble or error
            return "\n"
        return text.removeprefix("\ufeff") if self.number == 1 else text
