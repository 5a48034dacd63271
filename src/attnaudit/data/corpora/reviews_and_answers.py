"""Yelp and Amazon reviews and Yahoo answers (Zhang et al. 2015; used by Serrano & Smith 2019)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attnaudit.data.corpora import zhang_csv
from attnaudit.data.corpus_info import About, describes
from attnaudit.data.reading.options import one_of, whole_number
from attnaudit.data.reading.preprocessing import Preparation, vocabulary_size
from attnaudit.data.reading.splitting import check_share, divide
from attnaudit.data.splits import Splits

STARS = ("1 star", "2 stars", "3 stars", "4 stars", "5 stars")
TOPICS = (
    "Society & Culture",
    "Science & Mathematics",
    "Health",
    "Education & Reference",
    "Computers & Internet",
    "Sports",
    "Business & Finance",
    "Entertainment & Music",
    "Family & Relationships",
    "Politics & Government",
)
AMAZON_FIELDS = {"text": ("text",), "title": ("title",), "both": ("title", "text")}
YAHOO_FIELDS = {
    "all": ("title", "question", "answer"),
    "question": ("title", "question"),
    "answer": ("answer",),
}


def _about(archive: str, title: str, task: str, size: str, licence: str) -> About:
    name = archive.partition("_")[0]
    return About(
        title=title,
        task=task,
        size=size,
        licence=licence,
        home=zhang_csv.HOME,
        places=(archive, f"{name}/{archive}", name, f"{archive}.t*", f"{name}/{archive}.t*"),
        holds=("train*.csv", "test*.csv"),
        steps=f"Get {archive}.tar.gz from {zhang_csv.FOLDER} "
        "and put it into the data folder as it is.",
    )


YELP = _about(
    "yelp_review_full_csv",
    "Yelp Review Full Star",
    "stars of reviews, 5 classes",
    "650,000 / 50,000 reviews",
    "terms of the Yelp Dataset Challenge 2015; academic use",
)
AMAZON = _about(
    "amazon_review_full_csv",
    "Amazon Review Full Score",
    "stars of reviews, 5 classes",
    "3,000,000 / 650,000 reviews",
    "none stated; distributed for research",
)
YAHOO = _about(
    "yahoo_answers_csv",
    "Yahoo! Answers Topic Classification",
    "topic of questions with their best answer, 10 classes",
    "1,400,000 / 60,000 questions (Serrano & Smith drew 50,000 for test)",
    "Yahoo! Webscope L6; non-commercial research",
)


@describes(YELP)
def yelp(
    place: Path,
    *,
    tokeniser: str = "auto",
    replace_numbers: bool = False,
    more_than: int | None = None,
    fewer_than: int | None = None,
    dev_share: float = 0.1,
    min_count: int = 5,
    sentences: bool = False,
    rows: int | None = None,
    seed: int = 0,
    skip_bad: bool = False,
) -> Splits:
    """Reviews and their 1 to 5 stars; dev is a tenth of train, stratified and seeded.

    sentences=true is for hierarchical models; rows=20000 reads only the first rows of each file.
    """
    return _splits(
        "yelp",
        place,
        _layout(("text",), ("text",), STARS),
        STARS,
        dev_share=dev_share,
        min_count=min_count,
        rows=rows,
        seed=seed,
        tokeniser=tokeniser,
        replace_numbers=replace_numbers,
        more_than=more_than,
        fewer_than=fewer_than,
        sentences=sentences,
        skip_bad=skip_bad,
    )


@describes(AMAZON)
def amazon(
    place: Path,
    *,
    field: str = "text",
    tokeniser: str = "auto",
    replace_numbers: bool = False,
    more_than: int | None = None,
    fewer_than: int | None = None,
    dev_share: float = 0.1,
    min_count: int = 5,
    sentences: bool = False,
    rows: int | None = None,
    seed: int = 0,
    skip_bad: bool = False,
) -> Splits:
    """Reviews and their 1 to 5 stars; field is text, title or both. The rest is as in yelp."""
    one_of("amazon", "field", field, tuple(AMAZON_FIELDS))
    return _splits(
        "amazon",
        place,
        _layout(AMAZON_FIELDS["both"], AMAZON_FIELDS[field], STARS),
        STARS,
        dev_share=dev_share,
        min_count=min_count,
        rows=rows,
        seed=seed,
        tokeniser=tokeniser,
        replace_numbers=replace_numbers,
        more_than=more_than,
        fewer_than=fewer_than,
        sentences=sentences,
        skip_bad=skip_bad,
    )


@describes(YAHOO)
def yahoo(
    place: Path,
    *,
    field: str = "all",
    tokeniser: str = "auto",
    replace_numbers: bool = False,
    more_than: int | None = None,
    fewer_than: int | None = None,
    dev_share: float = 0.1,
    min_count: int = 5,
    sentences: bool = False,
    rows: int | None = None,
    seed: int = 0,
    skip_bad: bool = False,
) -> Splits:
    """Ten topics of questions with their best answer; the rest is as in yelp.

    field=all is title, question and answer; field=question or field=answer is only these.
    """
    one_of("yahoo", "field", field, tuple(YAHOO_FIELDS))
    return _splits(
        "yahoo",
        place,
        _layout(YAHOO_FIELDS["all"], YAHOO_FIELDS[field], TOPICS),
        TOPICS,
        dev_share=dev_share,
        min_count=min_count,
        rows=rows,
        seed=seed,
        tokeniser=tokeniser,
        replace_numbers=replace_numbers,
        more_than=more_than,
        fewer_than=fewer_than,
        sentences=sentences,
        skip_bad=skip_bad,
    )


def _layout(
    columns: tuple[str, ...], use: tuple[str, ...], classes: tuple[str, ...]
) -> zhang_csv.Layout:
    labels = {label + 1: label for label in range(len(classes))}
    return zhang_csv.Layout(columns, use, len(classes), labels)


def _splits(
    corpus: str,
    place: Path,
    layout: zhang_csv.Layout,
    classes: tuple[str, ...],
    *,
    dev_share: float,
    min_count: int,
    rows: int | None,
    seed: int,
    **preparation: Any,
) -> Splits:
    """Read and divide a corpus; preparation: the options of `Preparation`."""
    prepare = Preparation(corpus, drop_empty=True, **preparation)
    check_share(f"{corpus}: dev_share", dev_share)
    whole_number(corpus, "min_count", min_count, least=1)
    if rows is not None:
        whole_number(corpus, "rows", rows, least=1)
    read = zhang_csv.read(place, prepare, layout, rows=rows)
    kept = {split: prepare.within_length(examples, split) for split, examples in read.items()}
    train, dev = divide(kept["train"], dev_share, seed=seed)
    return prepare.finish(
        train=train,
        dev=dev,
        test=kept["test"],
        classes=classes,
        min_count=min_count,
        source=f"{corpus}, csv of Zhang et al. 2015",
        rule=f"dev is {dev_share:.0%} of train, stratified, seed {seed}"
        + (f"; the first {rows} rows of each file" if rows else ""),
        vocabulary_before_length_filter=vocabulary_size(train, min_count=min_count),
    )
