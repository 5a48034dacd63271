"""20 Newsgroups and AG News against counts of the real files and of the released notebooks."""

from __future__ import annotations

import os
import tarfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from attnaudit.data import data_folder, load
from attnaudit.data.corpora.newsgroups import newsgroups, own_words
from attnaudit.data.corpora.newsgroups_order import POSTS
from attnaudit.data.splits import Example
from label_counts import label_counts

pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif("ATTNAUDIT_DATA" not in os.environ, reason="ATTNAUDIT_DATA is not set"),
]


def _mean_length(examples: Sequence[Example]) -> float:
    return sum(len(each.tokens) for each in examples) / len(examples)


def _archive() -> Path:
    return next((data_folder() / "20news").glob("20news-bydate.tar*"))


def _baseball_and_hockey() -> Path:
    """The archive of these two groups alone, which is a tenth, if it is there."""
    return next((data_folder() / "20news").glob("20news-bydate-rec.sport.tar*"), _archive())


@pytest.fixture(scope="module")
def posts() -> dict[str, bytes]:
    """Every file of the archive by its name, read by the standard library alone."""
    with tarfile.open(_archive(), "r|*") as archive:
        return {
            member.name: data.read()
            for member in archive
            if (data := archive.extractfile(member)) is not None
        }


def test_posts_as_the_released_notebook_splits_them() -> None:
    pytest.importorskip("spacy")
    splits = load("newsgroups:tokeniser=spacy", cache=False)
    assert label_counts(splits) == [(568, 577), (140, 138), (179, 178)]
    assert splits.notes["vocabulary_before_length_filter"] == 6_517
    assert _mean_length(splits.train) == pytest.approx(117.26, abs=0.005)
    assert splits.notes["dropped"]["empty"] == 60
    assert sum(splits.notes["posts"].values()) == 1_993
    assert splits.classes == ("rec.sport.baseball", "rec.sport.hockey")


def test_the_split_is_the_one_scikit_learn_leads_to(
    posts: dict[str, bytes], tmp_path: Path
) -> None:
    """The second way: empty files of all 20 groups, loaded and shuffled as its fetcher does."""
    from sklearn.datasets import load_files
    from sklearn.model_selection import train_test_split

    splits = newsgroups(_baseball_and_hockey(), tokeniser="regex", more_than=None, fewer_than=None)
    kept = {each.example_id for part in (splits.train, splits.dev, splits.test) for each in part}
    assert len(kept) == 1_933
    for folder in {name.rpartition("/")[0] for name in posts}:
        (tmp_path / folder).mkdir(parents=True)
    for name in posts:
        (tmp_path / name).touch()
    names: list[str] = []
    for part in ("train", "test"):
        found = load_files(tmp_path / f"20news-bydate-{part}", load_content=False)
        names += [f"{part}/{'/'.join(Path(name).parts[-2:])}" for name in found.filenames]
    order = np.arange(len(names))
    np.random.RandomState(42).shuffle(order)
    names = [names[at] for at in order if names[at] in kept]
    sport = [name for name in names if "baseball" in name] + [
        name for name in names if "hockey" in name
    ]
    labels = {name: int("hockey" in name) for name in sport}
    rest, test = train_test_split(
        sport, stratify=[labels[name] for name in sport], test_size=0.2, random_state=13478
    )
    train, dev = train_test_split(
        rest, stratify=[labels[name] for name in rest], test_size=0.2, random_state=13478
    )
    assert [each.example_id for each in splits.train] == train
    assert [each.example_id for each in splits.dev] == dev
    assert [each.example_id for each in splits.test] == test


def test_an_archive_of_two_groups_gives_the_same() -> None:
    """Where the posts of the two groups end up does not need the other eighteen to be there."""
    part = _baseball_and_hockey()
    if part == _archive():
        pytest.skip("the archive of the two groups is not there")
    assert newsgroups(part, tokeniser="regex") == newsgroups(_archive(), tokeniser="regex")


def test_posts_by_date() -> None:
    splits = newsgroups(
        _baseball_and_hockey(),
        tokeniser="regex",
        split="bydate",
        more_than=None,
        fewer_than=None,
        dev_share=0,
    )
    assert splits.notes["posts"] == {
        "train/rec.sport.baseball": 597,
        "train/rec.sport.hockey": 600,
        "test/rec.sport.baseball": 397,
        "test/rec.sport.hockey": 399,
    }
    assert label_counts(splits) == [(575, 585), (0, 0), (383, 390)]
    assert {each.example_id.split("/")[0] for each in splits.test} == {"test"}


def test_all_groups_have_the_sizes_that_are_known() -> None:
    splits = load("newsgroups:tokeniser=blanks,groups=all,split=bydate", cache=False)
    assert splits.notes["posts"] == {
        f"{part}/{group}": sizes[at]
        for group, sizes in POSTS.items()
        for at, part in enumerate(("train", "test"))
    }
    assert len(splits.classes) == 20


def test_every_post_is_cleaned_as_scikit_learn_does(posts: dict[str, bytes]) -> None:
    module = pytest.importorskip("sklearn.datasets._twenty_newsgroups")
    assert len(posts) == 18_846
    for name, data in posts.items():
        post = data.decode("latin-1")
        theirs = module.strip_newsgroup_footer(module.strip_newsgroup_header(post))
        assert own_words(post).split() == module.strip_newsgroup_quoting(theirs).split(), name


def test_news_of_world_and_business() -> None:
    pytest.importorskip("spacy")
    splits = load("ag_news:tokeniser=spacy", cache=False)
    train, dev, test = label_counts(splits)
    assert test == (1_900, 1_900)
    whole = (data_folder() / "ag_news" / "train.csv").exists()
    assert (train[0] + dev[0], train[1] + dev[1]) == ((30_000, 30_000) if whole else (7_100, 7_066))
    assert len(splits.dev) == (9_000 if whole else 2_125)
    if not whole:
        assert _mean_length([*splits.train, *splits.dev]) == pytest.approx(35.94, abs=0.005)


def test_news_of_all_four_classes() -> None:
    splits = load("ag_news:tokeniser=regex,classes=all,dev_share=0", cache=False)
    assert Counter(each.label for each in splits.test) == dict.fromkeys(range(4), 1_900)
    assert splits.notes["dropped"] == {}
    assert splits.notes["skipped"] == {"rows": 0}
    if not (data_folder() / "ag_news" / "train.csv").exists():
        assert [Counter(each.label for each in splits.train)[label] for label in range(4)] == [
            *(7_100, 7_094, 7_066, 7_013),
        ]
