"""AG's news topics (csv of Zhang et al. 2015): world against business, or any of four classes."""

from __future__ import annotations

from pathlib import Path

from attnaudit.data.corpora import zhang_csv
from attnaudit.data.corpus_info import About, Download, describes
from attnaudit.data.reading.class_subset import class_indices
from attnaudit.data.reading.options import one_of, whole_number
from attnaudit.data.reading.preprocessing import Preparation, vocabulary_size
from attnaudit.data.reading.splitting import check_share, divide
from attnaudit.data.splits import Splits

CLASSES = ("World", "Sports", "Business", "Sci/Tech")
FIELDS = {"description": ("description",), "title": ("title",), "both": ("title", "description")}
_COPY = "https://raw.githubusercontent.com/mhjabreel/CharCnn_Keras/master/data/ag_news_csv"

ABOUT = About(
    title="AG's news topic classification",
    task="topic of news, 2 classes (world, business) or up to 4",
    size="120,000 / 7,600 articles in four classes, of two of them 60,000 / 3,800",
    licence="non-commercial use, according to the readme",
    home=zhang_csv.HOME,
    places=(
        "ag_news",
        "ag_news_csv",
        "ag_news/ag_news_csv",
        "ag_news_csv.t*",
        "ag_news/ag_news_csv.t*",
    ),
    holds=("train*.csv", "test*.csv"),
    downloads=(
        Download(f"{_COPY}/train.csv", "md5:b1a00f826fdfbd249f79597b59e1dc12", "ag_news/train.csv"),
        Download(f"{_COPY}/test.csv", "md5:d52ea96a97a2d943681189a97654912d", "ag_news/test.csv"),
    ),
)


@describes(ABOUT)
def ag_news(
    place: Path,
    *,
    classes: str = "World+Business",
    field: str = "description",
    tokeniser: str = "auto",
    replace_numbers: bool = True,
    more_than: int | None = None,
    fewer_than: int | None = None,
    dev_share: float = 0.15,
    min_count: int = 5,
    sentences: bool = False,
    seed: int = 0,
    skip_bad: bool = False,
) -> Splits:
    """Descriptions of World (0) and Business (1) news, as in Jain & Wallace; dev is 15 % of train.

    classes=Sports+Sci/Tech chooses others, in this order, classes=all all four; field is
    description, title or both. In this corpus a lone backslash stands for a line break and joins
    two words; it is kept, as in the released code. (Reading "\\n" as the break, as the readme says,
    would cut the first letter off the words after it.)
    """
    chosen = class_indices("ag_news", "classes", classes, CLASSES)
    one_of("ag_news", "field", field, tuple(FIELDS))
    check_share("ag_news: dev_share", dev_share)
    whole_number("ag_news", "min_count", min_count, least=1)
    prepare = Preparation(
        "ag_news",
        tokeniser=tokeniser,
        replace_numbers=replace_numbers,
        more_than=more_than,
        fewer_than=fewer_than,
        sentences=sentences,
        skip_bad=skip_bad,
    )
    layout = zhang_csv.Layout(
        columns=("title", "description"),
        use=FIELDS[field],
        class_count=len(CLASSES),
        labels={index + 1: label for label, index in enumerate(chosen)},
        escapes=False,
    )
    read = zhang_csv.read(place, prepare, layout)
    kept = {split: prepare.within_length(examples, split) for split, examples in read.items()}
    train, dev = divide(kept["train"], dev_share, seed=seed)
    return prepare.finish(
        train=train,
        dev=dev,
        test=kept["test"],
        classes=tuple(CLASSES[index] for index in chosen),
        min_count=min_count,
        source="AG's corpus of news articles, csv of Zhang et al. 2015",
        rule=f"dev is {dev_share:.0%} of train, stratified, seed {seed}",
        vocabulary_before_length_filter=vocabulary_size(train, min_count=min_count),
    )
