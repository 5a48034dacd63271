"""20 Newsgroups, AG News, Yelp, Amazon and Yahoo on small generated files, good and bad."""

from __future__ import annotations

import csv
import io
import re
import tarfile
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnaudit.core.errors import InputError
from attnaudit.data import load
from attnaudit.data.corpora.ag_news import ag_news
from attnaudit.data.corpora.newsgroups import newsgroups, own_words, set_apart
from attnaudit.data.corpora.newsgroups_order import GROUPS, POSTS
from attnaudit.data.corpora.reviews_and_answers import TOPICS, amazon, yahoo, yelp
from attnaudit.data.splits import Example, Splits

BASEBALL, HOCKEY = "rec.sport.baseball", "rec.sport.hockey"
HEADER = "From: ann@example.org\nSubject: Re: the game\nLines: 3\n\n"


def _pack(folder: Path, archive: Path) -> None:
    """All files of a folder, the last one first: an archive has no order to rely on."""
    paths = sorted((path for path in folder.rglob("*") if path.is_file()), reverse=True)
    archive.parent.mkdir(parents=True, exist_ok=True)
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive, "w") as packed:
            for path in paths:
                packed.write(path, path.relative_to(folder))
        return
    with tarfile.open(archive, f"w:{archive.suffix[1:].removeprefix('tar')}") as packed:
        for path in paths:
            packed.add(path, path.relative_to(folder))


def _everything(splits: Splits) -> list[Example]:
    return [*splits.train, *splits.dev, *splits.test]


def _ids(examples: object) -> list[str]:
    return [each.example_id for each in examples]  # type: ignore[attr-defined]


def _labels(examples: object) -> Counter[int]:
    return Counter(each.label for each in examples)  # type: ignore[attr-defined]


# 20 Newsgroups ------------------------------------------------------------------------------------


def _posts(
    folder: Path, groups: tuple[str, ...] = (BASEBALL, HOCKEY), *, train: int = 10, test: int = 5
) -> Path:
    """Posts of eight words, different ones in each, in the layout of the official archive."""
    for part, count in {"train": train, "test": test}.items():
        for group in groups:
            home = folder / f"20news-bydate-{part}" / group
            home.mkdir(parents=True)
            for number in range(count):
                words = f"{part} {group.split('.')[-1]} post {'abcdefghijklmnopqrstuvwxyz'[number]}"
                body = f"One {words}, and two more!\n\n-- \nAnn\n"
                text = f"{HEADER}Bob writes:\n> quoted words\n\n{body}"
                (home / str(52000 + number)).write_bytes(text.encode("latin-1"))
    return folder


def test_posts_lose_header_signature_and_quotations(tmp_path: Path) -> None:
    splits = newsgroups(_posts(tmp_path), tokeniser="regex")
    posts = {each.example_id: each for each in _everything(splits)}
    assert len(posts) == 30
    assert posts[f"train/{HOCKEY}/52002"] == Example(
        f"train/{HOCKEY}/52002",
        ("one", "train", "hockey", "post", "c", "and", "two", "more", "!"),
        label=1,
    )
    assert posts[f"test/{BASEBALL}/52004"].label == 0
    assert splits.classes == (BASEBALL, HOCKEY)
    assert splits.min_count == 2
    assert splits.tokeniser == "regex"


def test_the_papers_split_pools_all_posts_and_is_stratified(tmp_path: Path) -> None:
    splits = newsgroups(_posts(tmp_path), tokeniser="regex")
    assert [_labels(part) for part in (splits.train, splits.dev, splits.test)] == [
        {0: 10, 1: 9},
        {0: 2, 1: 3},
        {0: 3, 1: 3},
    ]
    assert {each.split("/")[0] for each in _ids(splits.train)} == {"train", "test"}
    assert splits == newsgroups(tmp_path, tokeniser="regex", seed=5, dev_share=0.5)


def test_the_split_by_date_is_the_official_one(tmp_path: Path) -> None:
    splits = newsgroups(_posts(tmp_path), tokeniser="regex", split="bydate", dev_share=0.3)
    assert [_labels(part) for part in (splits.train, splits.dev, splits.test)] == [
        {0: 7, 1: 7},
        {0: 3, 1: 3},
        {0: 5, 1: 5},
    ]
    assert {each.split("/")[0] for each in _ids([*splits.train, *splits.dev])} == {"train"}
    assert {each.split("/")[0] for each in _ids(splits.test)} == {"test"}
    other = newsgroups(tmp_path, tokeniser="regex", split="bydate", dev_share=0.3, seed=1)
    assert _ids(other.dev) != _ids(splits.dev)
    assert _ids(other.test) == _ids(splits.test)


@pytest.mark.parametrize("split", ["paper", "bydate"])
@pytest.mark.parametrize(
    "archive",
    [
        "20news-bydate.tar.gz",
        "20news/20news-bydate.tar.xz",
        "20news/20news-bydate-sport.tar",
        "20news-bydate.tar.bz2",
    ],
)
def test_an_archive_of_posts_gives_what_the_folder_gives(
    tmp_path: Path, archive: str, split: str
) -> None:
    folder = _posts(tmp_path / "one" / "20news")
    _pack(folder, tmp_path / "two" / archive)
    choice = f"newsgroups:tokeniser=regex,split={split}"
    assert load(choice, data_dir=tmp_path / "one") == load(choice, data_dir=tmp_path / "two")


def test_empty_short_and_long_posts_are_dropped_and_counted(tmp_path: Path) -> None:
    home = _posts(tmp_path) / "20news-bydate-test" / HOCKEY
    (home / "60000").write_text(f"{HEADER}> only a quotation\n")
    (home / "60001").write_text(f"{HEADER}one two three four five six\n")
    (home / "60002").write_text(f"{HEADER}{'word ' * 500}\n")
    (home / "60003").write_text(f"{HEADER}one two three four five six seven\n")
    (home / "60004").write_text(f"{HEADER}{'word ' * 499}\n")
    splits = newsgroups(tmp_path, tokeniser="regex", split="bydate")
    assert splits.notes["dropped"] == {"empty": 1, "test, short": 1, "test, long": 1}
    assert _ids(splits.test)[-2:] == [f"test/{HOCKEY}/60003", f"test/{HOCKEY}/60004"]
    assert splits.notes["posts"][f"test/{HOCKEY}"] == 10
    everything = newsgroups(
        tmp_path, tokeniser="regex", split="bydate", more_than=None, fewer_than=None
    )
    assert _ids(everything.test)[-4:] == [f"test/{HOCKEY}/6000{number}" for number in (1, 2, 3, 4)]


def test_latin_1_posts_are_read(tmp_path: Path) -> None:
    path = _posts(tmp_path) / "20news-bydate-train" / HOCKEY / "52000"
    path.write_bytes(f"{HEADER}Jágr and Selänne of Montréal played in the café\n".encode("latin-1"))
    splits = newsgroups(tmp_path, tokeniser="regex")
    found = next(each for each in _everything(splits) if each.example_id == f"train/{HOCKEY}/52000")
    assert found.tokens == (
        "jágr",
        "and",
        "selänne",
        "of",
        "montréal",
        "played",
        "in",
        "the",
        "café",
    )


def test_groups_by_short_names_in_the_order_given(tmp_path: Path) -> None:
    _posts(tmp_path, ("comp.sys.mac.hardware", "comp.sys.ibm.pc.hardware", "rec.autos"))
    splits = newsgroups(tmp_path, groups="Mac + ibm.pc+rec.autos", tokeniser="regex")
    assert splits.classes == ("comp.sys.mac.hardware", "comp.sys.ibm.pc.hardware", "rec.autos")
    for each in _everything(splits):
        assert each.example_id.split("/")[1] == splits.classes[each.label or 0]
    assert len(_labels(splits.train)) == 3


def test_all_twenty_groups(tmp_path: Path) -> None:
    splits = newsgroups(_posts(tmp_path, GROUPS, train=4, test=2), groups="all", tokeniser="regex")
    assert splits.classes == GROUPS
    assert len(GROUPS) == 20
    assert _labels(_everything(splits)) == dict.fromkeys(range(20), 6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            "groups=hardware+mac",
            "groups has 'hardware', which matches comp.sys.ibm.pc.hardware, comp.sys.mac.hardware.",
        ),
        (
            "groups=cricket+hockey",
            "groups has 'cricket', which is none of them. Choose from: alt.atheism,",
        ),
        ("groups=hock+baseball", "groups has 'hock', which is none of them."),
        ("groups=hockey+", "groups has '', which is none of them."),
        (
            "groups=hockey",
            "groups needs at least two different names, got 'hockey'. Write for example",
        ),
        ("groups=hockey+rec.sport.hockey", "groups needs at least two different names"),
        ("groups=3", "groups must be names joined by +, or all, got 3."),
        ("groups=all", "alt.atheism, train/comp.graphics"),
        ("split=random", "split must be one of paper, bydate, got 'random'."),
        ("dev_share=2", "dev_share: a share must be from 0 to 1, got 2."),
        ("min_count=0", "min_count must be a whole number of at least 1, got 0."),
        ("fewer_than=many", "fewer_than must be a whole number of at least 0, got 'many'."),
    ],
)
def test_bad_options_for_posts_are_reported(tmp_path: Path, options: str, message: str) -> None:
    _posts(tmp_path)
    with pytest.raises(InputError) as error:
        load(f"newsgroups:tokeniser=regex,{options}", data_dir=tmp_path)
    assert message in str(error.value)


def test_a_file_that_is_no_post_is_named_or_counted(tmp_path: Path) -> None:
    _posts(tmp_path)
    expected = newsgroups(tmp_path, tokeniser="regex")
    (tmp_path / "20news-bydate-train" / HOCKEY / "notes.txt").write_text("mine")
    (tmp_path / "20news-bydate-train" / HOCKEY / "old").mkdir()
    (tmp_path / "20news-bydate-train" / HOCKEY / "old" / "52000").write_text("mine too")
    with pytest.raises(InputError, match=r"hockey.notes\.txt: expected a post <group>/<number>"):
        newsgroups(tmp_path, tokeniser="regex")
    splits = newsgroups(tmp_path, tokeniser="regex", skip_bad=True)
    assert splits.notes["skipped"]["rows"] == 2
    assert splits.train == expected.train


def test_a_post_that_is_too_long_to_be_one_is_named(tmp_path: Path) -> None:
    path = _posts(tmp_path) / "20news-bydate-train" / HOCKEY / "52003"
    path.write_bytes(b"x" * (1 << 20) + b"\n")
    with pytest.raises(InputError, match=r"52003: longer than 1,048,576 bytes"):
        newsgroups(tmp_path, tokeniser="regex")
    assert newsgroups(tmp_path, tokeniser="regex", skip_bad=True).notes["skipped"]["rows"] == 1


def test_too_few_posts_to_split_are_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot take a fifth of 4 posts"):
        newsgroups(_posts(tmp_path, train=1, test=1), tokeniser="regex")


def test_a_cut_archive_of_posts_is_reported(tmp_path: Path) -> None:
    archive = tmp_path / "20news-bydate.tar.gz"
    _pack(_posts(tmp_path / "posts"), archive)
    archive.write_bytes(archive.read_bytes()[:-200])
    with pytest.raises(
        InputError, match=r"20news-bydate\.tar\.gz: damaged, cut short or unreadable"
    ):
        newsgroups(archive, tokeniser="regex")


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("Words.\n", "Words."),
        ("One.\n\nTwo.\n\nAnn\n", "One. Two."),
        ("One.\n-----\nAnn\nOslo\n\n\n", "One."),
        ("---\nOne.\n", "--- One."),
        ("> no\n| no\nIn article <7> ann\nQuoted from Ben\nyes\n", "yes"),
        (
            "Ann wrote: no\nAnn says: no\nAnn said: no\nAnn writes in no\n a > b, In article\n",
            "a > b, In article",
        ),
    ],
)
def test_what_a_post_says_itself(body: str, kept: str) -> None:
    assert own_words(f"From: ann\n\n{body}").split() == kept.split()


def test_a_post_without_an_empty_line_is_all_header() -> None:
    assert own_words("From: ann\nwords and words\n") == ""


LINES = [
    "",
    " ",
    "--",
    "- -",
    "> a",
    " > b",
    "| c",
    "In article d",
    "e wrote:",
    "f writes in g",
    "words",
    "\tmore",
    "x--",
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=9))
def test_the_rules_are_those_of_scikit_learn(lines: list[str]) -> None:
    module = pytest.importorskip("sklearn.datasets._twenty_newsgroups")
    post = "\n".join(lines)
    theirs = module.strip_newsgroup_header(post)
    theirs = module.strip_newsgroup_quoting(module.strip_newsgroup_footer(theirs))
    assert own_words(post).split() == theirs.split()


def test_marks_are_set_apart() -> None:
    assert set_apart(["do", "n't", "go", ",", "a-b", "..!?", "end", "."]) == [
        *("do", "n", "'", "t", "go", "a", "-", "b", "end", "."),
    ]
    assert set_apart(["...", "so"]) == ["so"]


@given(st.lists(st.text(st.sampled_from("ab_é7 .-'\"\t"), max_size=5), max_size=6))
def test_marks_are_set_apart_as_in_the_released_notebook(words: list[str]) -> None:
    """Its rule, in other words: the last character of each run, put between blanks."""
    spaced = "".join(
        part if part.isalnum() or "_" in part else f" {part[-1]} "
        for part in re.findall(r"\w+|\W+", " ".join(words))
    )
    assert set_apart(words) == spaced.split()


def test_the_known_sizes_add_up() -> None:
    assert [sum(sizes) for sizes in zip(*POSTS.values(), strict=True)] == [11_314, 7_532]
    assert list(GROUPS) == sorted(GROUPS)


# csv of Zhang et al. ------------------------------------------------------------------------------

NEWS = [
    ("1", "Talks resume", "Leaders meet in Oslo on 3 May."),
    ("2", "Cup final", "The home side wins again."),
    ("3", "Shares fall", 'Oil prices "hit" a\\new high.'),
    ("4", "New chip", "A faster chip is out."),
]


def _rows(
    folder: Path, rows: list[tuple[str, ...]], *, name: str = "train.csv", times: int = 1
) -> Path:
    """Every field in quotes, as in the release."""
    folder.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows * times)
    (folder / name).write_text(text.getvalue(), encoding="utf-8")
    return folder


def _news(folder: Path) -> Path:
    (_rows(folder, NEWS, times=10) / "classes.txt").write_text(
        "World\nSports\nBusiness\nSci/Tech\n"
    )
    return _rows(folder, NEWS, name="test.csv", times=2)


def test_news_of_two_classes(tmp_path: Path) -> None:
    splits = ag_news(_news(tmp_path), tokeniser="regex")
    assert splits.classes == ("World", "Business")
    assert splits.test == (
        Example("test/0", ("leaders", "meet", "in", "oslo", "on", "qqq", "may", "."), label=0),
        Example(
            "test/2", ("oil", "prices", '"', "hit", '"', "a", "\\", "new", "high", "."), label=1
        ),
        Example("test/4", ("leaders", "meet", "in", "oslo", "on", "qqq", "may", "."), label=0),
        Example(
            "test/6", ("oil", "prices", '"', "hit", '"', "a", "\\", "new", "high", "."), label=1
        ),
    )
    assert [len(splits.train), len(splits.dev)] == [17, 3]
    assert _ids(
        sorted([*splits.train, *splits.dev], key=lambda each: int(each.example_id[6:]))
    ) == [f"train/{number}" for number in range(40) if number % 2 == 0]
    assert splits.min_count == 5
    assert splits.notes["dropped"] == {"train, other classes": 20, "test, other classes": 4}
    assert (
        splits.notes["vocabulary_before_length_filter"] == 8 + 9 - 1 + 4
    )  # the full stop is in both


def test_news_options(tmp_path: Path) -> None:
    _news(tmp_path)
    splits = ag_news(
        tmp_path, classes="sci/tech+world", field="title", tokeniser="regex", dev_share=0.5
    )
    assert splits.classes == ("Sci/Tech", "World")
    assert [(each.tokens, each.label) for each in splits.test[:2]] == [
        (("talks", "resume"), 1),
        (("new", "chip"), 0),
    ]
    assert [len(splits.train), len(splits.dev)] == [10, 10]
    splits = ag_news(
        tmp_path, classes="all", field="both", tokeniser="regex", sentences=True, more_than=7
    )
    assert splits.classes == ("World", "Sports", "Business", "Sci/Tech")
    assert [each.label for each in splits.test] == [0, 1, 2, 3] * 2
    assert splits.test[1].tokens == ("cup", "final", "the", "home", "side", "wins", "again", ".")
    assert splits.test[1].segments == (0,) * 8
    short = ag_news(
        tmp_path, classes="all", tokeniser="regex", more_than=5, fewer_than=9, dev_share=0
    )
    assert _ids(short.test) == [f"test/{number}" for number in (0, 1, 3, 4, 5, 7)]
    assert short.notes["dropped"] == {"train, long": 10, "test, long": 2}
    longer = ag_news(tmp_path, classes="all", tokeniser="regex", more_than=6, dev_share=0)
    assert longer.notes["dropped"] == {"train, short": 20, "test, short": 4}


def test_a_seed_of_its_own_divides_news_otherwise(tmp_path: Path) -> None:
    _news(tmp_path)
    devs = {
        tuple(_ids(ag_news(tmp_path, tokeniser="regex", seed=seed).dev)) for seed in (0, 0, 1, 2)
    }
    assert len(devs) == 3


@pytest.mark.parametrize(
    "archive",
    [
        "ag_news_csv.tar.gz",
        "ag_news/ag_news_csv.tgz",
        "ag_news/ag_news_csv.tar",
        "ag_news_csv.tar.xz",
    ],
)
def test_an_archive_of_news_gives_what_the_folder_gives(tmp_path: Path, archive: str) -> None:
    _news(tmp_path / "one" / "ag_news")
    _news(tmp_path / "raw" / "ag_news_csv")
    if archive.endswith(".tgz"):
        _pack(tmp_path / "raw", tmp_path / "raw.tar.gz")
        (tmp_path / "two" / "ag_news").mkdir(parents=True)
        (tmp_path / "raw.tar.gz").rename(tmp_path / "two" / archive)
    else:
        _pack(tmp_path / "raw", tmp_path / "two" / archive)
    choice = "ag_news:tokeniser=regex,classes=all"
    assert load(choice, data_dir=tmp_path / "one") == load(choice, data_dir=tmp_path / "two")


def test_a_part_of_the_training_rows_has_a_name_of_its_own(tmp_path: Path) -> None:
    _news(tmp_path)
    expected = ag_news(tmp_path, tokeniser="regex")
    (tmp_path / "train.csv").rename(tmp_path / "train_part.csv")
    assert ag_news(tmp_path, tokeniser="regex") == expected
    _rows(tmp_path, NEWS)
    with pytest.raises(InputError, match=r"train_part\.csv: a second file for train"):
        ag_news(tmp_path, tokeniser="regex")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '"5","Title","Text."',
            r"line 41: expected a class from 1 to 4 in the first column, got '5'",
        ),
        (
            '"0","Title","Text."',
            r"line 41: expected a class from 1 to 4 in the first column, got '0'",
        ),
        (
            '"-1","Title","Text."',
            r"line 41: expected a class from 1 to 4 in the first column, got '-1'",
        ),
        (
            '"²","Title","Text."',
            r"line 41: expected a class from 1 to 4 in the first column, got '²'",
        ),
        (
            '"Class Index","Title","Description"',
            r"line 41: expected a class .* got 'Class Index'.*no header",
        ),
        ('"1","Title"', r"line 41: expected 3 columns, got 2"),
        ('"1","Title","Text.","More."', r"line 41: expected 3 columns, got 4"),
        ('"1","Title","  "', r"line 41: the text is empty"),
        ('"1","Title","Text', r"line 41: not a csv row"),
        ('"1","Title","Te"xt"', r"line 41: not a csv row"),
        (b'"1","Title","Caf\xe9"', r"line 41: not UTF-8 text"),
        (b'"1","Title","' + b"x" * (1 << 20) + b'"', r"line 41: longer than 1,048,576 bytes"),
    ],
)
def test_a_bad_row_of_news_is_named_or_counted(
    tmp_path: Path, line: str | bytes, message: str
) -> None:
    _news(tmp_path)
    expected = ag_news(tmp_path, tokeniser="regex")
    with (tmp_path / "train.csv").open("ab") as file:
        file.write((line.encode() if isinstance(line, str) else line) + b"\n")
    with pytest.raises(InputError, match=rf"train\.csv, {message}"):
        ag_news(tmp_path, tokeniser="regex")
    splits = ag_news(tmp_path, tokeniser="regex", skip_bad=True)
    assert splits.notes["skipped"]["rows"] == 1
    assert (splits.train, splits.dev, splits.test) == (expected.train, expected.dev, expected.test)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("classes=World", "ag_news: classes needs at least two different names, got 'World'."),
        (
            "classes=World+Opera",
            "ag_news: classes has 'Opera', which is none of them. Choose from: World, Sports,",
        ),
        ("field=body", "ag_news: field must be one of description, title, both, got 'body'."),
        ("dev_share=-1", "ag_news: dev_share: a share must be from 0 to 1, got -1."),
        ("min_count=few", "ag_news: min_count must be a whole number of at least 1, got 'few'."),
        ("skip_bad=1", "ag_news: skip_bad must be true or false, got 1."),
        ("rows=5", "The dataset 'ag_news' has no option 'rows'."),
    ],
)
def test_bad_options_for_news_are_reported_before_any_reading(
    tmp_path: Path, options: str, message: str
) -> None:
    _rows(_rows(tmp_path / "ag_news", [("not", "read")]), [("not", "read")], name="test.csv")
    with pytest.raises(InputError) as error:
        load(f"ag_news:{options}", data_dir=tmp_path)
    assert str(error.value).startswith(message)


def test_news_without_a_test_file_are_reported(tmp_path: Path) -> None:
    _rows(tmp_path / "ag_news", NEWS, times=10)
    with pytest.raises(
        InputError, match=r"looked for ag_news, .*with train\*\.csv, test\*\.csv in it"
    ):
        load("ag_news", data_dir=tmp_path)
    with pytest.raises(InputError, match="test is not in it"):
        ag_news(tmp_path / "ag_news", tokeniser="regex")


# Yelp, Amazon, Yahoo ------------------------------------------------------------------------------


def _both(folder: Path, rows: list[tuple[str, ...]]) -> Path:
    return _rows(_rows(folder, rows, times=10), rows, name="test.csv")


REVIEWS = [
    (str(stars), f'Nice place.\\nRoom {stars} was \\"fine\\". I paid!') for stars in range(1, 6)
]
WORDS = ("nice", "place", ".", "room", "4", "was", '"', "fine", '"', ".", "i", "paid", "!")


def test_yelp_reviews(tmp_path: Path) -> None:
    splits = yelp(_both(tmp_path, REVIEWS), tokeniser="regex")
    assert splits.classes == ("1 star", "2 stars", "3 stars", "4 stars", "5 stars")
    assert splits.test[3] == Example("test/3", WORDS, label=3)
    assert [_labels(part) for part in (splits.train, splits.dev, splits.test)] == [
        dict.fromkeys(range(5), count) for count in (9, 1, 1)
    ]
    assert splits.min_count == 5
    assert (
        splits.notes["vocabulary_before_length_filter"] == 10 + 5 + 4
    )  # ten words and marks, five numbers


def test_yelp_options(tmp_path: Path) -> None:
    _both(tmp_path, REVIEWS)
    splits = yelp(
        tmp_path, tokeniser="regex", sentences=True, replace_numbers=True, rows=20, dev_share=0.25
    )
    assert splits.test[3].segments == (0,) * 3 + (1,) * 7 + (2,) * 3
    assert splits.test[3].tokens[4] == "qqq"
    assert [len(splits.train), len(splits.dev), len(splits.test)] == [15, 5, 5]
    assert {int(each[6:]) for each in _ids([*splits.train, *splits.dev])} == set(range(20))
    assert splits.notes["rule"].endswith("the first 20 rows of each file")
    _rows(tmp_path, [*REVIEWS, ("1", "Too short.")], times=10)
    dropped = yelp(tmp_path, tokeniser="regex", more_than=3).notes["dropped"]
    assert dropped == {"train, short": 10}


def test_reviews_that_are_empty_are_dropped_and_counted(tmp_path: Path) -> None:
    splits = yelp(_both(tmp_path, [*REVIEWS, ("1", "\\n \\n")]), tokeniser="regex")
    assert splits.notes["dropped"] == {"empty": 11}
    assert len(_everything(splits)) == 55


@pytest.mark.parametrize(
    ("field", "text"), [("text", "it broke"), ("title", "no good"), ("both", "no good it broke")]
)
def test_amazon_fields(tmp_path: Path, field: str, text: str) -> None:
    _both(tmp_path, [(str(stars), "No good", "It broke") for stars in range(1, 6)])
    splits = amazon(tmp_path, field=field, tokeniser="regex")
    assert {each.tokens for each in _everything(splits)} == {tuple(text.split())}
    assert splits.name == "amazon"
    if field == "text":
        assert amazon(tmp_path, tokeniser="regex") == splits


@pytest.mark.parametrize(
    ("field", "text"),
    [("all", "why how so be it"), ("question", "why how so"), ("answer", "be it")],
)
def test_yahoo_fields(tmp_path: Path, field: str, text: str) -> None:
    _both(tmp_path, [(str(topic), "Why", "how\\nso", "be it") for topic in range(1, 11)])
    splits = yahoo(tmp_path, field=field, tokeniser="regex")
    assert splits.classes == TOPICS
    assert [each.label for each in splits.test] == list(range(10))
    assert {each.tokens for each in _everything(splits)} == {tuple(text.split())}
    if field == "all":
        assert yahoo(tmp_path, tokeniser="regex") == splits


@pytest.mark.parametrize(
    ("name", "folder", "row"),
    [
        ("yelp", "yelp_review_full_csv", ("fine",)),
        ("amazon", "amazon_review_full_csv", ("title", "fine")),
        ("yahoo", "yahoo_answers_csv", ("title", "question", "fine")),
    ],
)
def test_reviews_and_answers_are_found_as_released(
    tmp_path: Path, name: str, folder: str, row: tuple[str, ...]
) -> None:
    _both(tmp_path / "one" / folder, [(label, *row) for label in ("1", "2", "3")])
    _pack(tmp_path / "one", tmp_path / "two" / f"{folder}.tar.gz")
    _pack(tmp_path / "one", tmp_path / "three" / name / f"{folder}.tar.xz")
    choice = f"{name}:tokeniser=regex"
    unpacked = load(choice, data_dir=tmp_path / "one")
    assert len(unpacked.train) == 27
    assert load(choice, data_dir=tmp_path / "two") == unpacked
    assert load(choice, data_dir=tmp_path / "three") == unpacked
    (tmp_path / "four").mkdir()
    with pytest.raises(
        InputError, match=rf"Get {folder}\.tar\.gz from https://drive\.google\.com/"
    ):
        load(choice, data_dir=tmp_path / "four")


@pytest.mark.parametrize(
    ("choice", "row", "message"),
    [
        ("yelp", ("6", "text"), "expected a class from 1 to 5 in the first column, got '6'"),
        ("yelp", ("1", "title", "text"), "expected 2 columns, got 3"),
        ("amazon", ("1", "text"), "expected 3 columns, got 2"),
        (
            "amazon",
            ("9", "title", "text"),
            "expected a class from 1 to 5 in the first column, got '9'",
        ),
        ("yahoo", ("1", "title", "text"), "expected 4 columns, got 3"),
        (
            "yahoo",
            ("11", "a", "b", "c"),
            "expected a class from 1 to 10 in the first column, got '11'",
        ),
        ("yelp:rows=0", ("1", "text"), "yelp: rows must be a whole number of at least 1, got 0."),
        ("yelp:dev_share=7", ("1", "text"), "yelp: dev_share: a share must be from 0 to 1, got 7."),
        (
            "amazon:field=body",
            ("1", "t", "text"),
            "amazon: field must be one of text, title, both, got 'body'.",
        ),
        (
            "yahoo:field=title",
            ("1", "t", "text"),
            "yahoo: field must be one of all, question, answer, got 'title'.",
        ),
        (
            "yahoo:min_count=0",
            ("1", "a"),
            "yahoo: min_count must be a whole number of at least 1, got 0.",
        ),
    ],
)
def test_bad_rows_and_options_of_reviews_are_reported(
    tmp_path: Path, choice: str, row: tuple[str, ...], message: str
) -> None:
    _both(tmp_path / choice.partition(":")[0], [row])
    with pytest.raises(InputError) as error:
        load(f"{choice}{',' if ':' in choice else ':'}tokeniser=regex", data_dir=tmp_path)
    assert message in str(error.value)
