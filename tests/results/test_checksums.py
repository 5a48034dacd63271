"""The file that completes a folder lists all others with their checksums, and has its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attnaudit.core.errors import InputError
from attnaudit.results.checksums import (
    check_files,
    find_results,
    json_safe,
    read_mark,
    verify_folder,
    write_mark,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "run"
    place.mkdir()
    (place / "values.parquet").write_bytes(b"numbers")
    write_mark(place / "run.json", {"format": 1, "mean": float("nan"), "files": "ignored"})
    return place


def test_what_was_written_is_read_back(folder: Path) -> None:
    content = read_mark(folder / "run.json")
    assert content["mean"] is None
    assert content["files"]["values.parquet"]["bytes"] == 7
    assert verify_folder(folder) == "whole (2 files)"
    assert find_results([folder.parent]) == [folder]


def test_a_changed_file_is_named(folder: Path) -> None:
    (folder / "values.parquet").write_bytes(b"numberz")
    assert verify_folder(folder) == "damaged: values.parquet"
    with pytest.raises(InputError, match="its checksum is not the one that was stored with it"):
        check_files(folder, read_mark(folder / "run.json"), ["values.parquet"])


def test_a_changed_mark_is_rejected(folder: Path) -> None:
    content = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    (folder / "run.json").write_text(json.dumps({**content, "format": 2}), encoding="utf-8")
    with pytest.raises(InputError, match="its checksum does not match"):
        read_mark(folder / "run.json")


def test_a_mark_of_a_version_without_checksums_is_read(folder: Path) -> None:
    (folder / "run.json").write_text('{"format": 1, "versions": {"attnaudit": "0.1.0"}}')
    assert read_mark(folder / "run.json")["format"] == 1
    assert verify_folder(folder) == "cannot be verified: attnaudit 0.1.0 kept no checksums"


def test_values_that_json_does_not_have_become_null() -> None:
    content = {"a": [float("inf"), (1.5, float("nan"))], 2: True}
    assert json_safe(content) == {"a": [None, [1.5, None]], "2": True}
