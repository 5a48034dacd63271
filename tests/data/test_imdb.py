"""The IMDB reader on generated files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from attnaudit.core.errors import InputError
from attnaudit.data.corpora.imdb import imdb
from attnaudit.data.splits import Example, Splits


def _reviews(folder: Path, names: list[str]) -> Path:
    for part in ("train/neg", "train/pos", "test/neg", "test/pos"):
        (folder / part).mkdir(parents=True, exist_ok=True)
        for number in range(3):
            stars = 1 + number if part.endswith("neg") else 10 - number
            (folder / part / f"{number}_{stars}.txt").write_text(
                f"A review<br />no {number} of {part}."
            )
    for name in names:
        (folder / name).write_text("one more")
    return folder


def _imdb(place: Path, **options: Any) -> Splits:
    return imdb(
        place, **{"more_than": None, "fewer_than": None, "dev_share": 0, "test_share": 1, **options}
    )


def test_imdb_words_labels_and_stars(tmp_path: Path) -> None:
    made = _imdb(_reviews(tmp_path, []))
    assert made.train[0] == Example(
        "train/neg/0", ("a", "review", "br", "no", "qqq", "of", "train", "neg"), label=0
    )
    assert Counter(each.label for each in made.test) == {0: 3, 1: 3}
    plain = _imdb(tmp_path, breaks=False, tokeniser="regex", replace_numbers=False)
    assert plain.train[5].tokens == ("a", "review", "no", "2", "of", "train", "/", "pos", ".")
    stars = _imdb(tmp_path, labels="stars")
    assert [stars.classes[each.label or 0] for each in stars.train] == [
        "1 star",
        "2 stars",
        "3 stars",
        "10 stars",
        "9 stars",
        "8 stars",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "train/neg/7_7.txt",
        "train/pos/7_4.txt",
        "train/pos/7_5.txt",
        "test/neg/7_0.txt",
        "test/neg/x_1.txt",
        "test/neg/²_1.txt",
        "test/pos/1_" + "9" * 200 + ".txt",
        "test/pos/7.txt",
    ],
)
def test_imdb_names_that_are_none_are_reported(tmp_path: Path, name: str) -> None:
    place = _reviews(tmp_path, [name])
    with pytest.raises(InputError, match=r"expected a file name <number>_<stars>\.txt"):
        _imdb(place)
    assert _imdb(place, skip_bad=True).notes["skipped"]["rows"] == 1


def test_imdb_given_a_file_or_a_folder_without_a_part(tmp_path: Path) -> None:
    (tmp_path / "aclImdb.txt").write_text("not it")
    with pytest.raises(InputError, match="expected a file name"):
        _imdb(tmp_path / "aclImdb.txt")
    place = _reviews(tmp_path / "whole", [])
    for path in (place / "test" / "pos").iterdir():
        path.unlink()
    with pytest.raises(InputError, match="test/pos is not in it"):
        _imdb(place)


@pytest.mark.parametrize(
    ("option", "value"),
    [("min_count", "x"), ("min_count", 0), ("seed", "x"), ("seed", -1), ("labels", ["stars"])],
)
def test_imdb_options_are_checked_before_reading(option: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"imdb: {option} must be"):
        imdb(Path("nowhere"), **{option: value})
