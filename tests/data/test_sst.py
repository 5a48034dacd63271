"""The SST reader on generated trees."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from attnaudit.core.errors import InputError
from attnaudit.data import load
from attnaudit.data.corpora.sst import ABOUT, sst
from attnaudit.data.splits import Example

GOOD = (
    "(4 (2 (2 A) (2 (3 warm) (2 (2 ,) (3 well-made)))) "
    "(2 (2 -LRB-) (2 (2 21st) (2 (2 Century) (2 (2 -RRB-) (2 film))))))"
)


BAD = (
    "(0 (1 It) (1 (1 's) (0 (1 one) (0 (1 dull) (0 (2 and) (0 (2 very) (0 (1 long) (0 slog))))))))"
)


SHORT = "(1 (2 Too) (1 bad))"


LONGEST = "(3 (2 a) (3 (2 b) (3 (2 c) (3 (2 d) (3 (2 e) (3 (2 f) (3 (2 g) (3 (2 h) (3 i)))))))))"


NEUTRAL = (
    "(2 (2 It) (2 (2 is) (2 (2 a) (2 (2 film) (2 (2 of) (2 (2 sorts) (2 (2 I) (2 think))))))))"
)


def _trees(folder: Path, train: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for split in ("train", "dev", "test"):
        lines = [GOOD, NEUTRAL, SHORT, BAD, LONGEST]
        (folder / f"{split}.txt").write_text(
            train if train and split == "train" else "\n".join(lines) + "\n"
        )
    return folder


@pytest.mark.parametrize("place", [".", "trees", "sst/trees", "sst"])
def test_sst_as_the_released_notebook_prepares_it(tmp_path: Path, place: str) -> None:
    _trees(tmp_path / place)
    made = load("sst:tokeniser=blanks", data_dir=tmp_path)
    assert made.train == (
        Example("train/0", _words("a warm well made 21st century film"), label=1),
        Example("train/3", _words("it s one dull and very long slog"), label=0),
    )
    assert [each.example_id for each in made.test] == ["test/0", "test/3"]
    assert made.classes == ("negative", "positive")
    assert made.tokeniser == "blanks"
    assert made.notes["dropped"] == {
        f"{split}, {why}": 1
        for split in ("train", "dev", "test")
        for why in ("neutral", "short", "long")
    }
    # GOOD has 7 words, BAD 8, SHORT 2, LONGEST 8 new ones; "a" is in two; the four marks.
    assert made.notes["vocabulary_before_length_filter"] == 7 + 8 + 2 + 8 + 4


def test_sst_options(tmp_path: Path) -> None:
    _trees(tmp_path)
    made = sst(tmp_path, tokeniser="blanks", min_length=2, drop_longest=False, replace_numbers=True)
    assert [each.example_id for each in made.train] == ["train/0", "train/2", "train/3", "train/4"]
    assert made.train[0].tokens[4] == "qqq"
    with pytest.raises(InputError, match="drop_longest must be true or false, got 'no'"):
        sst(tmp_path, drop_longest="no")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("(3 (2 a) (4 film)", "a closing bracket is missing"),
        ("(3 (2 a) (4 film)))", "something follows the tree"),
        ("(3 (2 a) (7 film))", "a label from 0 to 4 is missing"),
        ("a film", "a label from 0 to 4 is missing"),
        ("(3 )", "it has no words"),
    ],
)
def test_a_malformed_tree_is_named_by_file_and_line(
    tmp_path: Path, line: str, problem: str
) -> None:
    _trees(tmp_path, train=f"{GOOD}\n{BAD}\n{line}\n")
    with pytest.raises(InputError, match=rf"train\.txt, line 3: not a tree .*: {problem}, got"):
        sst(tmp_path, tokeniser="blanks")


def test_a_bad_tree_is_skipped_and_counted_where_this_is_asked_for(tmp_path: Path) -> None:
    _trees(tmp_path, train="\n".join([GOOD, "(3 (2 a) film", BAD, "a film", LONGEST]))
    made = sst(tmp_path, tokeniser="blanks", skip_bad=True)
    assert [each.example_id for each in made.train] == ["train/0", "train/2"]
    assert made.notes["skipped"]["rows"] == 2
    assert [re.findall(r"line \d", each) for each in made.notes["skipped"]["first"]] == [
        ["line 2"],
        ["line 4"],
    ]


def test_sst_says_where_it_looked(tmp_path: Path) -> None:
    (_trees(tmp_path / "trees") / "dev.txt").unlink()
    with pytest.raises(InputError) as error:
        load("sst", data_dir=tmp_path)
    for part in (
        str(tmp_path),
        *ABOUT.places,
        *ABOUT.holds,
        "`attnaudit data get sst` downloads it",
    ):
        assert part in str(error.value)


@pytest.mark.parametrize("text", ["", "\n\n", f"{NEUTRAL}\n"])
def test_a_split_without_a_sentence_is_rejected(tmp_path: Path, text: str) -> None:
    (_trees(tmp_path) / "dev.txt").write_text(text)
    with pytest.raises(InputError, match="dev is not in it, or empty"):
        sst(tmp_path, tokeniser="blanks")


def test_two_files_for_one_split_are_rejected(tmp_path: Path) -> None:
    _trees(_trees(tmp_path) / "older")
    with pytest.raises(InputError, match=r"two files for the split 'dev'.*older"):
        sst(tmp_path, tokeniser="blanks")


def test_a_length_filter_that_leaves_nothing_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no example is left"):
        sst(_trees(tmp_path), tokeniser="blanks", min_length=99)


def test_readers_get_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = _trees(tmp_path / "here" / "sst")
    monkeypatch.delenv("ATTNAUDIT_DATA", raising=False)
    expected = sst(place, tokeniser="blanks")
    assert load("sst:tokeniser=blanks", data_dir=tmp_path / "here") == expected
    assert load(f"sst:tokeniser=blanks,folder={tmp_path / 'here'}") == expected
    monkeypatch.setenv("ATTNAUDIT_CACHE", str(tmp_path / "cache"))
    with pytest.raises(InputError, match=r"'sst' is not in .*cache.data: looked for"):
        load("sst")
    with pytest.raises(
        InputError, match=r"data folder '.*nowhere' does not exist\. .*ATTNAUDIT_DATA"
    ):
        load("sst", data_dir=tmp_path / "nowhere")
    monkeypatch.setenv("ATTNAUDIT_DATA", str(tmp_path / "here"))
    assert load("sst:tokeniser=blanks") == expected
    with pytest.raises(InputError, match="nowhere"):
        load("sst", data_dir=tmp_path / "nowhere")


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())
