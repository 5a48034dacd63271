"""Folders of absolute paths are removed from texts that are stored or shared."""

from __future__ import annotations

import pytest

from attnaudit.core.paths import file_name, without_folders
from attnaudit.data import choice_without_folders


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/ann/reviews.csv", "reviews.csv"),
        ("/home/ann/reviews.csv:label=stars", "reviews.csv:label=stars"),
        ("~/reviews.csv", "reviews.csv"),
        ("text_file:path=/a b/c.csv,test=/a b/d.csv", "text_file:path=c.csv,test=d.csv"),
        (r"C:\Users\ann\reviews.csv", "reviews.csv"),
        ("org/model and 3 / 4 or/and", "org/model and 3 / 4 or/and"),
        ("bilstm:hidden=32", "bilstm:hidden=32"),
    ],
)
def test_a_text_names_files_without_their_folders(text: str, expected: str) -> None:
    assert without_folders(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("/a/b.csv", "b.csv"), ("~/b.csv", "b.csv"), ("a/b.csv", "a/b.csv"), (3, 3), (None, None)],
)
def test_only_an_absolute_path_is_cut_to_its_name(value: object, expected: object) -> None:
    assert file_name(value) == expected


@pytest.mark.parametrize(
    "choice",
    [
        "text_file:path=/home/ann/reviews.csv,label=stars",
        "text_file:path=~/reviews.csv",
        "text_file:path=/a b/c.csv,test=/a b/d.csv",
        "babi:task=2",
        "sst",
    ],
)
def test_a_stored_choice_is_the_same_as_a_shown_one(choice: str) -> None:
    assert choice_without_folders(choice) == without_folders(choice)


def test_a_stored_choice_has_no_folder_option() -> None:
    assert choice_without_folders("sst:folder=/home/ann/data,min_length=3") == "sst:min_length=3"
