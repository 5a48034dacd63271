"""Files of texts for `attnaudit audit`: columns, delimiters, encodings, limits and errors."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from attnaudit.core.errors import InputError
from attnaudit.data import load
from attnaudit.data.audit_texts import TextsRead, read_texts
from attnaudit.data.reading import json_array, size_limits

LONG = "a rather long sentence number {} about one film"
OTHER = "quite another sentence number {} about the same"


def word(number: int) -> str:
    """Numbers would all become the same word of a corpus."""
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def written(path: Path, header: list[str], rows: list[list[str]], delimiter: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, delimiter=delimiter).writerows([header, *rows])
    return path


def texts(read: TextsRead) -> list[Any]:
    return [each.text for each in read.texts]


def message(path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as error:
        read_texts(path, **options)
    return str(error.value)


# Columns ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "first", "second"),
    [
        (["premise", "hypothesis", "label"], 0, 1),
        (["label", "hypothesis", "premise"], 2, 1),
        (["Sentence1", "Sentence2", "label"], 0, 1),
        (["text_a", "text_b", "label"], 0, 1),
        (["question1", "question2", "label"], 0, 1),
        (["passage", "question", "label"], 1, 0),
        (["question", "context", "label"], 0, 1),
        (["text", "question", "label"], 1, 0),
    ],
)
def test_known_pairs_are_read_as_pairs(
    tmp_path: Path, header: list[str], first: int, second: int
) -> None:
    path = written(tmp_path / "d.csv", header, [["a b", "c d", "e f"]])
    read = read_texts(path)
    row = ["a b", "c d", "e f"]
    assert texts(read) == [(row[first], row[second])]
    assert read.summary.startswith(
        f"Read d.csv: text = {header[first]}, pair = {header[second]}, label = label, 1 row"
    )


def test_a_named_text_is_read_alone(tmp_path: Path) -> None:
    path = written(tmp_path / "d.csv", ["premise", "hypothesis"], [["one", "two"]])
    assert texts(read_texts(path, text="premise")) == ["one"]
    assert texts(read_texts(path, pair="hypothesis")) == [("one", "two")]


@pytest.mark.parametrize("header", [["text", "summary", "label"], ["label", "summary", "text"]])
def test_a_further_column_of_texts_is_rejected_with_what_to_write(
    tmp_path: Path, header: list[str]
) -> None:
    values = {"text": LONG, "summary": OTHER}
    rows = [
        [str(n % 2) if name == "label" else values[name].format(word(n)) for name in header]
        for n in range(40)
    ]
    path = written(tmp_path / "d.csv", header, rows)
    words = message(path)
    assert "several columns hold texts: " in words
    assert (
        "--text-column text, or two that are read together, "
        "--text-column text and --pair-column summary" in words
    )
    assert len(read_texts(path, text="text").texts) == 40
    with pytest.raises(
        InputError, match=r"d.csv: several columns hold texts: .*text=text and query=summary"
    ):
        load(str(path))
    assert load(f"{path}:text=text").notes["columns"] == {"text": "text", "label": "label"}


def test_short_values_in_other_columns_are_no_texts(tmp_path: Path) -> None:
    rows = [
        [
            LONG.format(word(n)),
            "by A. Writer",
            f"https://example.org/{n}/a-long-name-of-a-page",
            "1",
        ]
        for n in range(9)
    ]
    path = written(tmp_path / "d.csv", ["text", "author", "url", "label"], rows)
    assert len(read_texts(path).texts) == 9


def test_pairs_of_a_corpus_to_train_on_have_the_question_as_query(tmp_path: Path) -> None:
    rows = [[f"why {word(n)}", f"passage {word(n)}", str(n % 2)] for n in range(40)]
    path = written(tmp_path / "d.csv", ["question", "passage", "label"], rows)
    assert load(str(path)).notes["columns"] == {
        "text": "passage",
        "label": "label",
        "query": "question",
    }
    path = written(tmp_path / "e.csv", ["sentence1", "sentence2", "label"], rows)
    assert load(str(path)).notes["columns"] == {
        "text": "sentence1",
        "label": "label",
        "query": "sentence2",
    }


def test_a_missing_label_column_is_said(tmp_path: Path) -> None:
    path = written(tmp_path / "d.csv", ["text", "verdict"], [["one", "bad"]])
    assert "no label column (not read: verdict), 1 row" in read_texts(path).summary
    assert read_texts(path, label="verdict").texts[0].label == "bad"
    assert (
        read_texts(written(tmp_path / "e.csv", ["text", "label"], [["one", ""]]), label="").labelled
        is False
    )


def test_columns_that_only_later_objects_have_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"text": "one"}\n{"text": "two", "label": "x"}\n')
    assert message(path).startswith(
        "d.jsonl, line 1: the label is missing. "
        "Drop the row, or leave such rows out with --skip-bad."
    )


# Rows ---------------------------------------------------------------------------------------------


def test_bad_rows_are_named_by_the_line_they_begin_on_and_counted_by_reason(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text('text,label\n"one\ntwo",x\n"three\n\nfour",\n  ,y\nfive,y\nsix,y,z\n')
    assert message(path).startswith("d.csv, line 4: the label is missing")
    read = read_texts(path, skip_bad=True)
    assert [(each.example_id, each.text, each.where) for each in read.texts] == [
        ("row/0", "one\ntwo", "d.csv, line 2"),
        ("row/3", "five", "d.csv, line 8"),
    ]
    assert read.bad.reasons == {"no label": 1, "no text": 1, "not readable": 1}
    assert read.bad.note()["reasons"] == dict(read.bad.reasons)
    assert [each.split(":")[0] for each in read.bad.messages] == [
        "d.csv, line 4",
        "d.csv, line 7",
        "d.csv, line 9",
    ]
    assert read.summary.endswith("3 skipped")


def test_rows_of_a_parquet_file_are_counted_from_1(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    pd.DataFrame({"text": ["one", None], "label": ["a", "b"]}).to_parquet(path)
    assert message(path).startswith("d.parquet, row 2: the text is empty")


def test_nothing_but_bad_rows(tmp_path: Path) -> None:
    path = written(tmp_path / "d.csv", ["text"], [[" "], [" "]])
    words = message(path, skip_bad=True)
    assert (
        "there is no text in it. 2 rows were skipped, the first: d.csv, line 2: the text is empty"
        in words
    )


# Delimiters ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("delimiter", "name"), [(",", ","), (";", ";"), ("\t", "tab"), ("|", "|")])
def test_delimiters_are_found(tmp_path: Path, delimiter: str, name: str) -> None:
    rows = [[f'one, {n}; or "two" | three\tfour', "a"] for n in range(9)]
    path = written(tmp_path / "d.csv", ["text", "label"], rows, delimiter)
    read = read_texts(path)
    assert texts(read) == [row[0] for row in rows]
    assert f"delimiter {name}, encoding utf-8" in read.summary


def test_semicolons_in_the_texts_of_a_proper_csv_are_no_delimiters(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("text,label\n" + "one; two; three,a\n" * 20)
    assert texts(read_texts(path)) == ["one; two; three"] * 20
    path.write_text("text\n" + "one; two\n" * 20)
    assert texts(read_texts(path)) == ["one; two"] * 20
    path.write_text("text;n,label\n" + "one; two,a\n" * 20)  # both fit
    assert "could be separated by any of ',', ';'. Name the one with --delimiter ," in message(path)
    assert texts(read_texts(path, text="text;n", delimiter=",")) == ["one; two"] * 20


@pytest.mark.parametrize("spelled", ["tab", "\\t", "\t"])
def test_a_delimiter_can_be_named(tmp_path: Path, spelled: str) -> None:
    path = written(tmp_path / "d.csv", ["text", "label"], [["one", "a"]], "\t")
    assert texts(read_texts(path, delimiter=spelled)) == ["one"]
    rows = [[LONG.format(word(n)), str(n % 2)] for n in range(40)]
    assert load(f"{written(tmp_path / 'e.csv', ['text', 'label'], rows, ';')}").classes == (
        "0",
        "1",
    )


@pytest.mark.parametrize("wrong", ["", "ab", '"', "\n"])
def test_what_is_no_delimiter(tmp_path: Path, wrong: str) -> None:
    path = written(tmp_path / "d.csv", ["text"], [["one"]])
    assert "delimiter must be one character" in message(path, delimiter=wrong)


# Encodings ----------------------------------------------------------------------------------------

CONTENT = 'text,label\ncafé "über" €,a\nzwei,b\n'.replace('"', "")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_marks_of_the_byte_order_and_line_ends(
    tmp_path: Path, encoding: str, ends: str, last: bool
) -> None:
    content = CONTENT if last else CONTENT.rstrip("\n")
    path = tmp_path / "d.csv"
    path.write_bytes(content.replace("\n", ends).encode(encoding))
    read = read_texts(path)
    assert [(each.text, each.label, each.where) for each in read.texts] == [
        ("café über €", "a", "d.csv, line 2"),
        ("zwei", "b", "d.csv, line 3"),
    ]
    assert f"encoding {encoding.removesuffix('-sig')}" in read.summary


def test_utf_16_big_endian_and_json(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_bytes(b"\xfe\xff" + '{"text": "naïve"}\n'.encode("utf-16-be"))
    assert texts(read_texts(path)) == ["naïve"]


def test_bytes_of_another_encoding_are_reported_by_line_with_what_to_write(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes(CONTENT.encode("cp1252"))
    words = message(path)
    assert words.startswith("d.csv, line 2: not UTF-8 text.")
    assert "--encoding cp1252" in words
    assert texts(read_texts(path, encoding="cp1252"))[0] == "café über €"
    assert read_texts(path, skip_bad=True).bad.reasons == {"not decodable": 1}
    path.write_bytes(b"text\none\n\x81\n")  # no character of cp1252
    assert message(path, encoding="cp1252").startswith("d.csv, line 3: not CP1252 text.")
    assert "no text encoding 'klingon'" in message(path, encoding="klingon")
    assert "no text encoding 'base64'" in message(path, encoding="base64")
    path.write_bytes(CONTENT.encode("utf-16-le"))
    assert "--encoding utf-16-le" in message(path)
    assert len(read_texts(path, encoding="utf-16-le").texts) == 2
    path.write_bytes(CONTENT.encode("utf-16")[:-1])
    assert message(path).startswith("d.csv, line 3: not UTF-16 text.")


def test_the_encoding_of_a_corpus_to_train_on(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    rows = [f"{LONG.format(word(n))} café,{n % 2}\n" for n in range(40)]
    path.write_bytes(("text,label\n" + "".join(rows)).encode("cp1252"))
    with pytest.raises(InputError, match=r"d.csv, line 2: not UTF-8 text.*encoding=cp1252"):
        load(str(path))
    assert load(f"{path}:encoding=cp1252").train[0].tokens[-1] == "café"


def test_a_nul_is_a_character(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes(b"text,label\none\0two,a\n")
    assert texts(read_texts(path)) == ["one\0two"]


# JSON ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"text": "a", "text": "b"}', "the key 'text' occurs twice"),
        ("[" * 100_000, "not JSON"),
        ('{"text": ' + "9" * 5000 + "}", "not JSON"),
        ('{"text": NaN}', "NaN is not a number"),
        ('["text"]', "expected a JSON object"),
    ],
)
def test_odd_json_lines(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text(f'{{"text": "one"}}\n{line}\n')
    assert message(path).startswith("d.jsonl, line 2: ")
    assert problem in message(path)
    assert texts(read_texts(path, skip_bad=True)) == ["one"]


def test_json_arrays(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    rows = [
        {"text": "one", "label": "a"},
        {"text": "two\nlines", "label": "b"},
        {"text": "", "label": "b"},
    ]
    path.write_text(json.dumps(rows, indent=1))
    assert message(path).startswith("d.json, line 10: the text is empty")
    read = read_texts(path, skip_bad=True)
    assert [(each.text, each.where) for each in read.texts] == [
        ("one", "d.json, line 2"),
        ("two\nlines", "d.json, line 6"),
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows[:2]))
    assert texts(read_texts(path)) == ["one", "two\nlines"]
    for damaged in (
        '[{"text": "one"}',
        '[{"text": "one"} {"text": "two"}]',
        '[{"text": "one"}] x',
        '[{"text"',
        "[1]",
        "[]",
    ):
        path.write_text(damaged)
        assert message(path).startswith("d.json")
    path.write_bytes(b'[{"text": "one"},\n{"text": "\xff"}]')
    assert message(path).startswith("d.json, line 2: not UTF-8 text")


# Bounds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", [b"\n", b"a,b\n", b"x" * 1000])
def test_a_gzip_bomb_is_reported_soon(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "d.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(b"text,label\n")
        block = line * (1_000_000 // len(line))
        for _ in range(300):
            stream.write(block)
    started = time.process_time()
    words = message(path, skip_bad=True)
    assert time.process_time() - started < 20
    assert (
        "too large: more than 10,000,000 lines" in words
        or "looks like a decompression bomb" in words
    )


def test_too_many_rows_bytes_and_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "d.csv", ["text"], [["one"]] * 20)
    monkeypatch.setattr(size_limits, "MOST_ROWS", 19)
    assert "d.csv, line 21: more than 19 rows" in message(path)
    monkeypatch.setattr(size_limits, "MOST_ROWS", 20)
    assert len(read_texts(path).texts) == 20
    monkeypatch.setattr(size_limits, "MOST_CHARACTERS", 58)
    assert "more than 58 characters" in message(path)
    monkeypatch.setattr(size_limits, "MOST_LINES", 10)
    assert "more than 10 lines" in message(path)
    monkeypatch.setattr(size_limits, "MOST_BYTES", 30)
    assert "bytes, at most 30 are read" in message(path)
    monkeypatch.setattr(json_array, "LARGEST", 5)
    (tmp_path / "d.json").write_text('[{"text": 1}]')
    monkeypatch.setattr(size_limits, "MOST_BYTES", 3000)
    assert "an array of more than 5 bytes" in message(tmp_path / "d.json")


def test_a_parquet_file_of_more_rows_than_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "d.parquet"
    pq.write_table(pa.table({"text": ["one"] * 30}), path)
    monkeypatch.setattr("attnaudit.data.reading.tables.MOST_ROWS", 29)
    assert "it declares 30 rows, at most 29 are read" in message(path)


def test_a_parquet_file_whose_strings_are_one_long_string(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dictionary of one long string: small on disk and as declared, enormous when read."""
    path = tmp_path / "d.parquet"
    long = pa.array(["x" * 1_000_000])
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 1_000_000, pa.int32()), long)
    pq.write_table(pa.table({"text": column.cast(pa.dictionary(pa.int32(), pa.string()))}), path)
    assert path.stat().st_size < 1_000_000
    assert size_limits.MOST_CHARACTERS == 2_000_000_000  # which take seconds to read
    monkeypatch.setattr(size_limits, "MOST_CHARACTERS", 150_000_000)
    assert "row 151: more than 150,000,000 characters" in message(path)


def test_fields_and_lines_longer_than_any_text(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text('text\n"' + ("x" * 900_000 + "\n") * 2 + '"\none\n')
    assert "line 2: not a csv row (field larger than field limit" in message(path)
    path.write_text("text\n" + "x" * 3_000_000 + "\none\n")
    assert "line 2: longer than 1,048,576 bytes" in message(path)
    assert texts(read_texts(path, skip_bad=True)) == ["one"]


def test_a_look_at_the_first_rows_does_not_go_through_a_line_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes(b"text;label\none;a\n" + b"x" * 40_000_000)
    sizes: list[int] = []
    read = io.BufferedReader.readline

    class Counted(io.BufferedReader):
        def readline(self, size: int | None = -1, /) -> bytes:
            line = read(self, size)
            sizes.append(len(line))
            return line

    monkeypatch.setattr("attnaudit.data.reading.streams.io.BufferedReader", Counted)
    assert "d.csv, line 3: longer than 1,048,576 bytes" in message(path)
    # Four delimiters, the columns and the head are looked for in 16 MB each.
    assert sum(sizes) < 6 * 17_000_000 + 43_000_000


# What is no data file -----------------------------------------------------------------------------


def test_folders_pipes_and_missing_files(tmp_path: Path) -> None:
    written(tmp_path / "reviews.csv", ["text"], [["one"]])
    (tmp_path / "notes.md").write_text("x")
    words = message(tmp_path)
    assert "is a folder. Give one file" in words
    assert words.endswith("It holds reviews.csv.")
    assert "does not exist" in message(tmp_path / "none.csv")
    assert "does not exist" in message(tmp_path / "reviews.csv" / "none.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    assert "is a pipe or a device" in message(tmp_path / "pipe.csv")
    assert "is a pipe or a device" in message(Path("/dev/null"))
    assert "cannot be read" in message(tmp_path / ("x" * 300 + ".csv"))
    assert "cannot be read" in message(tmp_path / "x\0.csv")


def test_files_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "d.csv", ["text"], [["one"]])
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may read anything
    assert "you may not read this file" in message(path)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("d.xlsx", "Save the sheet as CSV UTF-8"),
        ("d.zip", "Unpack it"),
        ("d.txt", "with a header of column names"),
        ("d.pkl", "may run code"),
        ("d.dat", r"Its name must end in .csv"),
    ],
)
def test_other_kinds_of_files(tmp_path: Path, name: str, advice: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    assert advice in message(tmp_path / name)


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        (b"PK\x03\x04xx", "Excel workbook"),
        (b"PAR1xxxx", ".parquet"),
        (gzip.compress(b"text\n", mtime=0), "end in .gz"),
    ],
)
def test_files_that_are_not_what_their_name_says(
    tmp_path: Path, content: bytes, advice: str
) -> None:
    (tmp_path / "d.csv").write_bytes(content)
    assert advice in message(tmp_path / "d.csv")


def test_no_message_or_note_of_a_file_holds_its_folder(tmp_path: Path) -> None:
    rows = [[LONG.format(word(n)), str(n % 2)] for n in range(40)]
    path = written(tmp_path / "d.csv", ["text", "label"], [*rows, ["", "1"]])
    splits = load(f"{path}:skip_bad=true")
    assert splits.notes["source"] == "d.csv"
    assert splits.notes["skipped"]["first"][0].startswith("d.csv, line 42: ")
    assert str(tmp_path) not in json.dumps(splits.notes)
    assert str(tmp_path) not in json.dumps(read_texts(path, skip_bad=True).bad.note())


def test_notes_of_a_corpus_do_not_hold_the_data_folder(tmp_path: Path) -> None:
    (tmp_path / "sst").mkdir()
    for split in ("train", "dev", "test"):
        trees = [
            f"({label} (2 {split}) (2 (2 one) ({label} n{word(label)})))" for label in (0, 4, 1, 3)
        ]
        (tmp_path / "sst" / f"{split}.txt").write_text("\n".join([*trees, "(broken"]))
    options = "min_length=1,drop_longest=false,tokeniser=regex,skip_bad=true"
    for cache in (False, True, True):
        splits = load(f"sst:{options}", data_dir=tmp_path, cache=cache)
        assert splits.notes["skipped"]["rows"] == 3
        assert splits.notes["skipped"]["first"][0].startswith("sst/")
        assert str(tmp_path) not in json.dumps(splits.notes)
