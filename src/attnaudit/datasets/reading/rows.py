"""Lines, csv rows and JSON lines of a file, each with its place for error messages; bad ones stop the reading or are counted."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

from attnaudit.datasets.reading.sources import File
from attnaudit.errors import InputError

LONGEST = (
    1 << 20
)  # characters of a line, a csv field or a text; what is longer is not a text for a classifier
SHOWN = 5  # messages kept of skipped rows


class BadRows:
    """What becomes of a row that cannot be read: its error is raised, or, with skip, it is left out and counted.

    `with bad:` around the reading of one row.
    """

    def __init__(self, *, skip: bool = False) -> None:
        self.skip = skip
        self.count = 0
        self.messages: list[str] = []

    def met(self, error: InputError) -> None:
        if not self.skip:
            raise error
        self.count += 1
        if self.count <= SHOWN:
            self.messages.append(str(error))

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, InputError) or not self.skip:
            return False
        self.met(error)
        return True

    def note(self) -> dict[str, Any]:
        return {"rows": self.count, "first": self.messages} if self.count else {"rows": 0}


def lines(file: File, bad: BadRows, *, encoding: str = "utf-8") -> Iterator[tuple[str, str]]:
    """(where, text without its line end) of each line that is not blank."""
    number = 0
    while raw := file.stream.readline(LONGEST + 1):
        number += 1
        where = f"{file.where}, line {number}"
        if len(raw) > LONGEST:
            while raw and not raw.endswith(b"\n"):  # the rest of it, piece by piece
                raw = file.stream.readline(LONGEST)
            bad.met(InputError(f"{where}: longer than {LONGEST:,} bytes. Is the file what it should be?"))
            continue
        with bad:
            text = decoded(raw, where, encoding).rstrip("\r\n")
            if number == 1:
                text = text.removeprefix("\ufeff")
            if text.strip():
                yield where, text


def decoded(raw: bytes, where: str, encoding: str = "utf-8") -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where}: not {encoding.upper()} text ({error.reason} at byte {error.start}). Save the file as UTF-8."
        ) from error


def whole_text(file: File, *, encoding: str = "utf-8") -> str:
    """All of a small file that is one text."""
    raw = file.stream.read(LONGEST + 1)
    if len(raw) > LONGEST:
        raise InputError(f"{file.where}: longer than {LONGEST:,} bytes. Is the file what it should be?")
    return decoded(raw, file.where, encoding).removeprefix("\ufeff")


def json_rows(file: File, bad: BadRows) -> Iterator[tuple[str, dict[str, Any]]]:
    """(where, object) of each line of a jsonl file."""
    for where, text in lines(file, bad):
        with bad:
            try:
                row = json.loads(text, parse_constant=_no_number)
            except (RecursionError, ValueError) as error:
                raise InputError(f"{where}: not JSON ({error}), got {text[:60]!r}.") from error
            if not isinstance(row, dict):
                raise InputError(f"{where}: expected a JSON object {{…}}, got {text[:60]!r}.")
            if "\\u" in text and not _encodable(row):
                raise InputError(
                    f"{where}: half of a surrogate pair, which is no character, got {text[:60]!r}."
                )
            yield where, row


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


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
    """(where, fields) of each row that is not blank; of `columns` fields, if given. The place is that of the row's last line."""
    source = _Decoded(file)
    reader = csv.reader(
        source, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE, strict=quoted
    )
    while True:
        first, source.trouble = source.number + 1, ""
        limit = csv.field_size_limit(LONGEST)  # a setting of the whole process: put back at once
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            begun = f", begun in line {first}" if first < source.number else ""
            told = source.trouble or (
                f"{file.where}, line {source.number}: not a csv row{begun} ({error}). Is a quotation mark missing?"
            )
            bad.met(InputError(told))
            continue
        finally:
            csv.field_size_limit(limit)
        where = f"{file.where}, line {source.number}"
        with bad:
            if source.trouble:
                raise InputError(source.trouble)
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

    def __init__(self, file: File) -> None:
        self.file, self.number, self.trouble = file, 0, ""

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
                raise InputError(f"{where}: longer than {LONGEST:,} bytes. Is the file what it should be?")
            text = decoded(raw, where)
        except InputError as error:
            self.trouble = self.trouble or str(error)
            return "\n"
        return text.removeprefix("\ufeff") if self.number == 1 else text
