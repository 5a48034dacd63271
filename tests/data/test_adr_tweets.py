"""adr_tweets on small generated files: the corpus may not be redistributed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from attnaudit.core.errors import InputError
from attnaudit.data import load
from attnaudit.data.corpora.adr_tweets import adr_tweets
from attnaudit.data.splits import Example, Splits


def test_tweets_are_read_split_and_the_missing_ones_counted(tmp_path: Path) -> None:
    rows = [_tweet(number, number % 2) for number in range(100)]
    rows += ["900\tu\t1\tNot Available", "901\tu\t0", "902\tu\t0\tNot Found", "903\tu\t1\t "]
    read = adr_tweets(_tweets(tmp_path, rows), tokeniser="regex")
    assert [len(split) for split in (read.train, read.dev, read.test)] == [68, 12, 20]
    assert [
        sum(each.label or 0 for each in split) for split in (read.train, read.dev, read.test)
    ] == [
        34,
        6,
        10,
    ]
    assert read.notes["dropped"]["not available"] == 4
    found = {each.example_id: each for each in _all(read)}
    tokens = ("@", "someone", "#", "drugx", "made", "me", "dizzy", "for", "qqq", "days")
    assert found["tweet/17"] == Example("tweet/17", tokens, label=1)
    assert (read.classes, read.min_count) == (("no adverse reaction", "adverse reaction"), 2)
    assert "seed 13020" in read.notes["rule"]
    assert read == adr_tweets(tmp_path, tokeniser="regex")
    assert read.test != adr_tweets(tmp_path, tokeniser="regex", test_seed=1).test


def test_tweets_have_six_to_ninety_nine_tokens(tmp_path: Path) -> None:
    lengths = (5, 6, 99, 100)
    rows = [f"{number}\tu\t{number % 2}\t{'word ' * lengths[number // 20]}" for number in range(80)]
    read = adr_tweets(_tweets(tmp_path, rows), tokeniser="blanks")
    assert {len(each.tokens) for each in _all(read)} == {6, 99}
    dropped = read.notes["dropped"]
    assert sum(dropped[f"{split}, short"] for split in ("train", "dev", "test")) == 20
    assert sum(dropped[f"{split}, long"] for split in ("train", "dev", "test")) == 20


def test_a_list_of_ids_next_to_the_texts_and_tweets_occurring_twice_do_no_harm(
    tmp_path: Path,
) -> None:
    rows = [_tweet(number, number % 2) for number in range(40)]
    _tweets(tmp_path, [*rows, rows[0], _tweet(1, 0)])
    (tmp_path / "a_list.txt").write_text(
        "".join(f"{number}\tu\t{number % 2}\n" for number in range(45))
    )
    (tmp_path / "twitter_binary_data_readme.txt").write_text("Not a tweet at all.\n")
    read = adr_tweets(tmp_path, tokeniser="regex")
    assert len(_all(read)) == 40
    assert read.notes["dropped"]["not available"] == 5
    assert read.notes["dropped"]["met before"] == 1
    assert read.notes["dropped"]["met before with the other label"] == 1


def test_a_tab_within_a_tweet_is_a_blank(tmp_path: Path) -> None:
    rows = [_tweet(number, number % 2) + '\tand "so\ton' for number in range(40)]
    read = adr_tweets(_tweets(tmp_path, rows), tokeniser="blanks")
    assert read.train[0].tokens[-3:] == ("and", '"so', "on")


def test_a_list_of_tweet_ids_without_texts_says_how_to_get_them(tmp_path: Path) -> None:
    place = _tweets(tmp_path, [f"{number}\tu\t{number % 2}" for number in range(40)])
    with pytest.raises(
        InputError, match=r"no tweet with a text in it, only 40 without.*download script"
    ):
        adr_tweets(place)


@pytest.mark.parametrize(
    "line", ["x1\tu\t1\ttext", "5\tu\tyes\ttext", "5\tu\t2\ttext", "5 u 1 text", "\tu\t1\ttext"]
)
def test_a_bad_tweet_is_named_or_skipped_and_counted(tmp_path: Path, line: str) -> None:
    place = _tweets(tmp_path, [*(_tweet(number, number % 2) for number in range(50, 90)), line])
    with pytest.raises(
        InputError, match=r"tweets\.txt, line 41: expected tweet id, user id, class"
    ):
        adr_tweets(place)
    read = adr_tweets(place, skip_bad=True)
    assert (len(_all(read)), read.notes["skipped"]["rows"]) == (40, 1)


def test_tweets_of_one_class_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="training labels are the same"):
        adr_tweets(_tweets(tmp_path, [_tweet(number, 1) for number in range(40)]))


def test_tweets_are_found_by_name_and_their_absence_names_the_steps(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Only tweet ids and labels are distributed"):
        load("adr_tweets", data_dir=tmp_path)
    (tmp_path / "adr_tweets").mkdir()
    _tweets(tmp_path / "adr_tweets", [_tweet(number, number % 2) for number in range(40)])
    assert len(load("adr_tweets:dev_share=0", data_dir=tmp_path, cache=False).train) == 32


@pytest.mark.parametrize(
    "wrong",
    [
        {"test_share": 2},
        {"dev_share": "x"},
        {"min_count": 0},
        {"test_seed": -1},
        {"skip_bad": "no"},
    ],
)
def test_wrong_options_of_adr_tweets_are_reported_before_reading(
    tmp_path: Path, wrong: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        adr_tweets(tmp_path / "nowhere", **wrong)


def _tweet(number: int, label: int) -> str:
    return f"{number}\tuser{number % 5}\t{label}\t@someone #DrugX made me dizzy for 3 days"


def _tweets(folder: Path, rows: Sequence[str]) -> Path:
    (folder / "tweets.txt").write_text("".join(f"{row}\n" for row in rows))
    return folder


def _all(read: Splits) -> list[Example]:
    return [*read.train, *read.dev, *read.test]
