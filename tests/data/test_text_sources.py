"""Texts where they are: several files, folders, saved datasets and standard input."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from attnaudit import InputError
from attnaudit.data.text_sources import read_sources
from attnaudit.models.huggingface.labels import renamed_labels

ROWS = [("a good film", "pos"), ("a dull film", "neg"), ("not bad", "pos")]


def read(*places: Any, stdin: bytes = b"", **options: Any) -> list[tuple[Any, Any]]:
    found = read_sources(list(places), stdin=io.BytesIO(stdin), **options)
    assert [text.example_id for text in found.texts] == [
        f"row/{n}" for n in range(len(found.texts))
    ]
    return [(text.text, text.label) for text in found.texts]


def write_csv(path: Path, rows: list[tuple[str, str]]) -> Path:
    path.write_text("text,label\n" + "".join(f"{a},{b}\n" for a, b in rows), encoding="utf-8")
    return path


def test_several_files_are_read_one_after_the_other(tmp_path: Path) -> None:
    one = write_csv(tmp_path / "one.csv", ROWS[:1])
    two = tmp_path / "two.jsonl"
    two.write_text("".join(json.dumps({"text": a, "label": b}) + "\n" for a, b in ROWS[1:]))
    assert read(one, two) == ROWS
    (tmp_path / "three.jsonl").write_text('{"text": "no label"}\n')
    with pytest.raises(InputError, match=r"three.jsonl has no labels, but other data has"):
        read(one, tmp_path / "three.jsonl")


def test_a_folder_of_text_files_has_its_subfolders_as_labels(tmp_path: Path) -> None:
    for number, (text, label) in enumerate(ROWS):
        (tmp_path / label).mkdir(exist_ok=True)
        (tmp_path / label / f"{number}.txt").write_text(text + "\n", encoding="utf-8")
    assert sorted(read(tmp_path)) == sorted(ROWS)
    assert read(tmp_path, split="neg") == [(ROWS[1][0], None)]
    (tmp_path / "loose.txt").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match=r"some are not, such as loose.txt"):
        read(tmp_path)


def test_text_files_that_are_not_utf8_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"caf\xe9")
    with pytest.raises(InputError, match=r"a.txt: this is not UTF-8"):
        read(tmp_path)


def test_a_folder_with_a_file_per_split(tmp_path: Path) -> None:
    write_csv(tmp_path / "train.csv", ROWS)
    write_csv(tmp_path / "test.csv", ROWS[:2])
    assert read(tmp_path, split="test") == ROWS[:2]
    with pytest.raises(InputError, match=r"found 0. The folder holds test.csv, train.csv"):
        read(tmp_path, split="dev")
    with pytest.raises(InputError, match=r"is a folder. Give one file"):
        read(tmp_path)


def test_a_saved_dataset_and_its_splits(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    table = {"text": [a for a, _ in ROWS], "label": [b for _, b in ROWS]}
    part = datasets.Dataset.from_dict(table)
    part.save_to_disk(tmp_path / "one")
    datasets.DatasetDict({"train": part, "test": part.select([1])}).save_to_disk(tmp_path / "two")
    assert read(tmp_path / "one") == ROWS
    assert read(f"{tmp_path / 'two'}:test") == read(tmp_path / "two", split="test") == ROWS[1:2]
    with pytest.raises(InputError, match=r"holds several splits: train, test. Choose one: --split"):
        read(tmp_path / "two")
    with pytest.raises(InputError, match=r"has no split 'dev'; it has: train, test"):
        read(tmp_path / "two", split="dev")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a good film\na dull film\n", [("a good film", None), ("a dull film", None)]),
        (b"good, but long, film\n", [("good, but long, film", None)]),
        (b"text,label\na good film,pos\n", ROWS[:1]),
        (b"text\tlabel\na good film\tpos\n", ROWS[:1]),
        (b'{"text": "a good film", "label": "pos"}\n', ROWS[:1]),
    ],
)
def test_standard_input(content: bytes, expected: list[Any]) -> None:
    assert read("-", stdin=content) == expected


def test_an_empty_standard_input_is_said() -> None:
    with pytest.raises(InputError, match="nothing on the standard input"):
        read("-", stdin=b" \n")


def test_labels_are_mapped_to_classes_by_name_or_number() -> None:
    mapping = {"neg": "0", "pos": "positive"}
    names = ["negative", "positive"]
    assert renamed_labels(["neg", "pos"], mapping, names) == ["negative", "positive"]
    assert renamed_labels(["a", "b"], {"a": "1", "b": "5"}, ["5", "1"]) == ["1", "5"]
    with pytest.raises(InputError, match="'7' is not a class of the model"):
        renamed_labels(["neg"], {"neg": "7"}, names)
