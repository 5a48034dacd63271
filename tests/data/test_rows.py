"""Lines, JSON lines and csv rows: hostile input, bad rows, and limits."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attnaudit.core.errors import InputError
from attnaudit.data.reading.rows import (
    LONGEST,
    BadRows,
    csv_rows,
    json_rows,
    lines,
    table_rows,
    whole_text,
)
from attnaudit.data.reading.sources import File


def _file(content: bytes) -> File:
    return File("f.txt", "f.txt", io.BytesIO(content))


def _lines(content: bytes, **more: Any) -> list[tuple[str, str]]:
    return list(lines(_file(content), BadRows(), **more))


def _skipping(rows: Callable[..., Any], content: bytes, **more: Any) -> tuple[list[Any], BadRows]:
    bad = BadRows(skip=True)
    return [row for _, row in rows(_file(content), bad, **more)], bad


def test_lines_and_their_numbers() -> None:
    content = b"\xef\xbb\xbfone\r\n\n  \ntwo \xc3\xa9\0\nthree\r"
    assert _lines(content) == [
        ("f.txt, line 1", "one"),
        ("f.txt, line 4", "two é\0"),
        ("f.txt, line 5", "three"),
    ]
    assert _lines(b"caf\xe9\n", encoding="latin-1") == [("f.txt, line 1", "café")]
    assert _lines(b"") == []


def test_a_mark_of_the_byte_order_is_taken_off_a_whole_text_too() -> None:
    assert whole_text(_file(b"\xef\xbb\xbfone\ntwo")) == "one\ntwo"


@pytest.mark.parametrize("raw", [b"\xff", b"caf\xe9", b"\xed\xa0\x80", b"\xc3"], ids=repr)
def test_bytes_that_are_no_utf_8_are_reported_by_line_and_place(raw: bytes) -> None:
    with pytest.raises(InputError, match=r"f\.txt, line 3: not UTF-8 text \(.* at byte \d+\)"):
        _lines(b"one\n\n" + raw + b"\nfour\n")
    kept, bad = _skipping(lines, b"one\n\n" + raw + b"\nfour\n")
    assert (kept, bad.count) == (["one", "four"], 1)
    with pytest.raises(InputError, match=r"f\.txt: not UTF-8 text"):
        whole_text(_file(raw))


def test_how_long_a_line_may_be() -> None:
    longest, too_long = b"a" * (LONGEST - 1) + b"\n", b"b" * LONGEST + b"\n"
    assert [len(text) for _, text in _lines(longest * 2)] == [LONGEST - 1] * 2
    with pytest.raises(InputError, match=r"line 2: longer than 1,048,576 bytes"):
        _lines(longest + too_long)
    for tail in (b"end\n", b""):
        for long in (too_long, b"b" * (3 * LONGEST) + b"\n", b"b" * (2 * LONGEST + 1) + b"\n"):
            kept, bad = _skipping(lines, b"one\n" + long + tail)
            assert kept == (["one", "end"] if tail else ["one"])
            assert bad.count == 1
    assert len(whole_text(_file(b"a" * LONGEST))) == LONGEST
    with pytest.raises(InputError, match="longer than"):
        whole_text(_file(b"a" * (LONGEST + 1)))


LONG_LINE = """
import resource, sys
from pathlib import Path
from attnaudit.data.reading import rows
from attnaudit.data.reading.sources import files
bad = rows.BadRows(skip=True)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for file in files(Path(sys.argv[1])):
    kept = list(getattr(rows, sys.argv[2])(file, bad))
print(len(kept), bad.count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("kind", ["lines", "json_rows", "csv_rows"])
def test_a_line_of_hundred_megabytes_is_passed_over_in_little_memory(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "long.txt"
    with path.open("wb") as stream:
        stream.write(b'{"a": 1}\n')
        for _ in range(100):
            stream.write(b"x" * 1_000_000)
        stream.write(b'\n{"a": 1}\n')
    command = [sys.executable, "-c", LONG_LINE, str(path), kind]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    kept, skipped, grown = map(int, done.stdout.split())
    assert (kept, skipped) == (2, 1)
    assert grown < 30_000  # kilobytes


@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_line_of_ten_megabytes_is_reported(end: bytes) -> None:
    for rows in (lines, json_rows, csv_rows):
        with pytest.raises(InputError, match="line 1: longer than"):
            list(rows(_file(b"x" * 10_000_000 + end), BadRows()))


def test_only_the_first_messages_are_kept() -> None:
    _, bad = _skipping(json_rows, b"{\n" * 12)
    assert bad.note()["rows"] == 12
    assert [message[:13] for message in bad.note()["first"]] == [
        f"f.txt, line {n}" for n in range(1, 6)
    ]
    assert BadRows().note() == {"rows": 0}


def test_only_errors_of_input_are_skipped() -> None:
    with pytest.raises(KeyError), BadRows(skip=True):
        raise KeyError("a mistake of ours")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{", "not JSON"),
        (b'{"a": 1} {}', "not JSON"),
        (b'{"a": NaN}', r"not JSON \(NaN is not a number\)"),
        (b'{"a": [-Infinity]}', r"not JSON \(-Infinity is not a number\)"),
        (b"[" * 100_000, "not JSON"),
        (b'{"a":' * 100_000, "not JSON"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not JSON"),
        (b'{"a": "\x01"}', "not JSON"),
        (b'{"a": "\\ud800"}', "half of a surrogate pair"),
        (b'{"\\udfff": 1}', "half of a surrogate pair"),
        (b'{"a": [{"b": "x\\udc00"}]}', "half of a surrogate pair"),
        (b"[1]", "expected a JSON object"),
        (b"null", "expected a JSON object"),
        (b'"{}"', "expected a JSON object"),
        (b'{"a": "\xff"}', "not UTF-8"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_bad_json_is_reported_by_line(line: bytes, problem: str) -> None:
    content = b'{"a": 0}\n\n' + line + b'\n{"a": 3}\n'
    with pytest.raises(InputError, match=rf"^f\.txt, line 3: {problem}") as error:
        list(json_rows(_file(content), BadRows()))
    assert len(str(error.value)) < 400
    kept, bad = _skipping(json_rows, content)
    assert (kept, bad.count) == ([{"a": 0}, {"a": 3}], 1)


def test_good_json() -> None:
    row = {"a": "é \U0001f600 \\u0041 \u2028", "b": [1, None, True, 1.5], "c": {}}
    for ascii_only in (True, False):
        kept, bad = _skipping(json_rows, json.dumps(row, ensure_ascii=ascii_only).encode())
        assert (kept, bad.count) == ([row], 0)


@pytest.mark.parametrize("spare", range(0, 120, 7))
def test_json_as_deep_as_the_stack_is_read_or_reported(spare: int) -> None:
    depth = sys.getrecursionlimit() - spare
    content = b'{"\\u0061":' + b"[" * depth + b"]" * depth + b"}"
    kept, bad = _skipping(json_rows, content)
    assert len(kept) + bad.count == 1


def _csv(content: bytes, **more: Any) -> list[tuple[str, list[str]]]:
    return list(csv_rows(_file(content), BadRows(), **more))


def test_csv_rows_and_the_lines_they_begin_on() -> None:
    content = b'\xef\xbb\xbf"a ""b""",1\r\n\r\n"two\nlines, ""quoted""",2\nlast,3'
    assert _csv(content, columns=2) == [
        ("f.txt, line 1", ['a "b"', "1"]),
        ("f.txt, line 3", ['two\nlines, "quoted"', "2"]),
        ("f.txt, line 5", ["last", "3"]),
    ]
    assert [row for _, row in _csv(b'a "b\tc"\n', delimiter="\t", quoted=False)] == [['a "b', 'c"']]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'a,b\n"c,d\n', r"line 2: not a csv row \(unexpected end of data\)"),
        (
            b'a,b\n"c,d\ne,f\ng,h\n',
            r"line 2: not a csv row \(unexpected end of data, read up to line 4\)",
        ),
        (b'a,b\n"c"d,e\n', r"line 2: not a csv row"),
        (b"a,b\nc\n", "line 2: expected 2 columns, got 1"),
        (b'a,b\n"c\nd",e,f\n', "line 2: expected 2 columns, got 3"),
        (b"a,b\nc,\xff\n", "line 2: not UTF-8"),
        (b'a,b\n"c\n\xff\n",d\n', "line 3: not UTF-8"),
        (b"a,b\nc\rd,e\n", "line 2: not a csv row"),
        (b'a,b\n"\xff\n', "line 2: not UTF-8"),
    ],
    ids=repr,
)
def test_bad_csv_is_reported_by_line(content: bytes, problem: str) -> None:
    with pytest.raises(InputError, match=rf"^f\.txt, {problem}"):
        _csv(content, columns=2)


def test_trouble_in_a_row_that_is_bad_anyway_costs_no_other_row() -> None:
    content = b'a,1\n"b\n\xff\n"x,2\nc,3\nd,4\n'
    kept, bad = _skipping(csv_rows, content, columns=2)
    assert kept == [["a", "1"], ["c", "3"], ["d", "4"]]
    assert bad.count == 1


def test_a_quotation_without_end_does_not_fill_the_memory() -> None:
    content = b'a,1\n"open,' + b"x,2\n" * 600_000
    kept, bad = _skipping(csv_rows, content, columns=2)
    assert bad.count == 1
    assert bad.messages[0].startswith("f.txt, line 2: not a csv row")
    assert "read up to line " in bad.messages[0]
    assert len(kept) > 300_000  # goes on after a megabyte


def test_a_nul_in_a_field_is_a_character_like_any_other() -> None:
    assert [row for _, row in _csv(b"a\0b,c\n")] == [["a\0b", "c"]]


def test_the_limit_of_csv_fields_is_put_back() -> None:
    import csv

    before = csv.field_size_limit(12_345)  # not what any reader sets
    try:
        next(csv_rows(_file(b"a,b\nc,d\n"), BadRows()))
        assert csv.field_size_limit() == 12_345
        with pytest.raises(InputError):
            _csv(b'"open')
        assert csv.field_size_limit() == 12_345
    finally:
        csv.field_size_limit(before)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "f.txt: the header needs one column 'text', got nothing"),
        (b"label\n", "f.txt, line 1: the header needs one column 'text', got label"),
        (b"text,label,text\n", "f.txt, line 1: the header needs one column 'text'"),
        (b"text;label\n", "f.txt, line 1: the header needs one column 'text', got text;label"),
        (b"text,label\na\n", "f.txt, line 2: expected 2 columns as in the header, got 1"),
        (b"text,label\na,b,c\n", "f.txt, line 2: expected 2 columns as in the header, got 3"),
    ],
    ids=repr,
)
def test_headers(content: bytes, problem: str) -> None:
    with pytest.raises(InputError) as error:
        list(table_rows(_file(content), BadRows(), needs=("text", "label")))
    assert str(error.value).startswith(problem)


def test_rows_by_column() -> None:
    content = b"\n label , text,more\n1,one\n2,two,x\n"
    kept, bad = _skipping(table_rows, content, needs=("text", "label"))
    assert (kept, bad.count) == ([{"label": "2", "text": "two", "more": "x"}], 1)
