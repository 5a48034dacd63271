"""The Large Movie Review Dataset (Maas et al. 2011): 50,000 reviews, by sentiment or by stars."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from attnaudit.core.errors import InputError
from attnaudit.data.corpus_info import About, Download, describes
from attnaudit.data.reading.options import one_of, whole_number, yes_or_no
from attnaudit.data.reading.preprocessing import Preparation, Text, require_parts, vocabulary_size
from attnaudit.data.reading.rows import whole_text
from attnaudit.data.reading.sources import files
from attnaudit.data.reading.splitting import check_share, divide
from attnaudit.data.splits import Example, Splits

STARS = (1, 2, 3, 4, 7, 8, 9, 10)  # the corpus has no reviews of 5 and 6 stars
PARTS = ("train/neg", "train/pos", "test/neg", "test/pos")
_NAME = re.compile(r"(?:.*/)?(train|test)/(neg|pos)/([0-9]+)_([0-9]{1,2})\.txt")
_BREAK = re.compile(r"<br\s*/?>")

ABOUT = About(
    title="Large Movie Review Dataset 1.0 (IMDB)",
    task="sentiment of reviews, 2 classes or 8 star ratings",
    size="25,000 / 25,000 reviews",
    licence="none stated; distributed for research, citation requested",
    home="https://ai.stanford.edu/~amaas/data/sentiment/",
    places=("aclImdb", "imdb/aclImdb", "aclImdb*.tar*", "imdb/aclImdb*.tar*"),
    holds=PARTS,
    downloads=(
        Download(
            "https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz",
            "md5:7c2ac02c03563afcf9b574c7e56c153a",
            "imdb/aclImdb_v1.tar.gz",
        ),
    ),
)


@describes(ABOUT)
def imdb(
    place: Path,
    *,
    labels: str = "sentiment",
    tokeniser: str = "keras",
    breaks: bool = True,
    replace_numbers: bool = True,
    more_than: int | None = 6,
    fewer_than: int | None = 400,
    dev_share: float = 0.2,
    test_share: float = 0.2,
    min_count: int = 10,
    sentences: bool = False,
    seed: int = 0,
    skip_bad: bool = False,
) -> Splits:
    """Reviews of 7 to 399 tokens; dev is a fifth of train and test a fifth of test.

    These are the shares of the released code of Jain & Wallace. Its own random fifths cannot be
    reproduced (they depend on a tokenised file that was not released); these are stratified and
    seeded. Words are those of the Keras index it uses: no punctuation, and the markup <br /> is a
    word, "br" (breaks=false drops it). more_than=null,fewer_than=null,test_share=1 keeps all
    reviews; labels=stars gives eight classes; sentences=true is for hierarchical models.
    """
    one_of("imdb", "labels", labels, ("sentiment", "stars"))
    yes_or_no("imdb", "breaks", breaks)
    check_share("imdb: dev_share", dev_share)
    check_share("imdb: test_share", test_share)
    whole_number("imdb", "min_count", min_count, least=1)
    whole_number("imdb", "seed", seed, least=0)
    prepare = Preparation(
        "imdb",
        tokeniser=tokeniser,
        replace_numbers=replace_numbers,
        more_than=more_than,
        fewer_than=fewer_than,
        sentences=sentences,
        skip_bad=skip_bad,
    )
    seen: set[str] = set()
    read = prepare.examples(_texts(place, prepare, seen, by_stars=labels == "stars", breaks=breaks))
    require_parts(place, seen, PARTS)
    kept: dict[str, tuple[Example, ...]] = {}
    for split in ("train", "test"):
        # An archive has its files in any order, so they are sorted by id.
        ordered = sorted(
            (example for example in read if example.example_id.startswith(split)),
            key=lambda example: example.example_id,
        )
        kept[split] = prepare.within_length(ordered, split)
    train, dev = divide(kept["train"], dev_share, seed=seed)
    _, test = divide(kept["test"], test_share, seed=seed)
    return prepare.finish(
        train=train,
        dev=dev,
        test=test,
        classes=tuple(f"{star} star{'s' * (star > 1)}" for star in STARS)
        if labels == "stars"
        else ("negative", "positive"),
        min_count=min_count,
        source="Large Movie Review Dataset 1.0",
        within_length={split: len(examples) for split, examples in kept.items()},
        rule=f"dev is {dev_share:.0%} of train, test {test_share:.0%} of test, "
        f"stratified, seed {seed}",
        vocabulary_before_length_filter=vocabulary_size(train, min_count=min_count),
    )


def _texts(
    place: Path, prepare: Preparation, seen: set[str], *, by_stars: bool, breaks: bool
) -> Iterator[Text]:
    """The reviews; adds the parts that are read to `seen`."""
    for file in files(place, *(f"{part}/*.txt" for part in PARTS)):
        with prepare.bad:
            match = _NAME.fullmatch(file.name)
            if (
                match is None
                or int(match[4]) not in STARS
                or (int(match[4]) > 5) != (match[2] == "pos")
            ):
                raise InputError(
                    f"{file.where}: expected a file name <number>_<stars>.txt "
                    "with 1 to 4 stars in neg and 7 to 10 in pos."
                )
            split, sentiment, number, stars = match.groups()
            seen.add(f"{split}/{sentiment}")
            label = STARS.index(int(stars)) if by_stars else int(sentiment == "pos")
            text = whole_text(file) if breaks else _BREAK.sub(" ", whole_text(file))
            yield Text(f"{split}/{sentiment}/{number}", file.where, text, label)
