"""Tweets with or without an adverse drug reaction (Sarker & Gonzalez 2015)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from attnaudit.core.errors import InputError
from attnaudit.data.corpus_info import About, describes
from attnaudit.data.reading.options import whole_number
from attnaudit.data.reading.preprocessing import Preparation, Text, vocabulary_size
from attnaudit.data.reading.rows import lines
from attnaudit.data.reading.sources import files
from attnaudit.data.reading.splitting import check_share, divide
from attnaudit.data.splits import Splits

LAYOUT = "tweet id, user id, class (1 = adverse reaction, 0 = none) and text, separated by tabs"
UNAVAILABLE = ("not available", "not found")  # written by download scripts for deleted tweets

ABOUT = About(
    title="Twitter adverse drug reactions (DIEGO lab)",
    task="does a tweet report an adverse drug reaction, 2 classes",
    size="10,822 tweet ids (2015); 21,254 tweets with those of later shared tasks, "
    "as used by Jain & Wallace",
    licence="tweets may not be redistributed (Twitter's terms); ids and labels for research, "
    "citation requested",
    home="https://healthlanguageprocessing.org/",
    places=("adr_tweets", "adr", "adr_classify_twitter_data_downloaded.txt*", "adr_tweets.txt*"),
    holds=("*.txt",),
    steps=(
        "Only tweet ids and labels are distributed: get adr_classify_twitter_data and its download "
        "script (download_binary_twitter_data) from https://healthlanguageprocessing.org/ (first "
        "published at http://diego.asu.edu/Publications/ADRClassify.html), download the texts "
        "under Twitter's terms, and put the file, one tweet per line with "
        f"{LAYOUT}, into the folder adr_tweets of the data folder."
    ),
)


@describes(ABOUT)
def adr_tweets(
    place: Path,
    *,
    tokeniser: str = "auto",
    replace_numbers: bool = True,
    more_than: int | None = 5,
    fewer_than: int | None = 100,
    test_share: float = 0.2,
    dev_share: float = 0.15,
    min_count: int = 2,
    test_seed: int = 13020,
    seed: int = 0,
    skip_bad: bool = False,
) -> Splits:
    """Tweets of 6 to 99 tokens; test is a stratified fifth, dev 15 % of the rest.

    Shares and test_seed are those of the notebook of Jain & Wallace; dev depends on `seed`. Their
    texts were preprocessed (lemmas; DRUG, user, url and number in place of names) by code that was
    not released: here tweets are as written. All *.txt files of the folder are one corpus. Tweets
    without text and repeated tweets are dropped and counted.
    """
    check_share("adr_tweets: test_share", test_share)
    check_share("adr_tweets: dev_share", dev_share)
    for name, number in {"min_count": min_count, "test_seed": test_seed, "seed": seed}.items():
        whole_number("adr_tweets", name, number, least=int(name == "min_count"))
    prepare = Preparation(
        "adr_tweets",
        tokeniser=tokeniser,
        replace_numbers=replace_numbers,
        more_than=more_than,
        fewer_than=fewer_than,
        skip_bad=skip_bad,
    )
    read = prepare.examples(_texts(place, prepare))
    if not read:
        raise InputError(
            f"{place}: there is no tweet with a text in it, "
            f"only {prepare.dropped['not available']} without. "
            f"Expected lines with {LAYOUT}. {ABOUT.steps}"
        )
    rest, test = divide(read, test_share, seed=test_seed)
    train, dev = divide(rest, dev_share, seed=seed)
    return prepare.finish(
        train=prepare.within_length(train, "train"),
        dev=prepare.within_length(dev, "dev"),
        test=prepare.within_length(test, "test"),
        classes=("no adverse reaction", "adverse reaction"),
        min_count=min_count,
        source="Twitter adverse drug reactions, tweets as downloaded",
        rule=f"test is {test_share:.0%} (seed {test_seed}), "
        f"dev {dev_share:.0%} of the rest (seed {seed}), stratified",
        texts="as written; "
        "those of Jain & Wallace were changed before by code that was not released",
        vocabulary_before_length_filter=vocabulary_size(train, min_count=min_count),
    )


def _texts(place: Path, prepare: Preparation) -> Iterator[Text]:
    label_of: dict[str, int] = {}
    without_text: set[str] = set()
    for file in files(place, "*.txt"):
        if "readme" in PurePosixPath(file.name).name.lower():
            continue
        for where, line in lines(file, prepare.bad):
            with prepare.bad:
                tweet, label, text = _tweet(line, where)
                if not text or text.lower() in UNAVAILABLE:
                    without_text.add(tweet)
                elif tweet in label_of:
                    same = label_of[tweet] == label
                    reason = "met before" if same else "met before with the other label"
                    prepare.dropped[reason] += 1
                else:
                    label_of[tweet] = label
                    yield Text(f"tweet/{tweet}", where, text, label)
    # The list of ids may be in the same folder: only tweets without a text in any file are missing.
    if missing := without_text - label_of.keys():
        prepare.dropped["not available"] = len(missing)


def _tweet(line: str, where: str) -> tuple[str, int, str]:
    tweet, _, label, *rest = fields = (*line.split("\t"), "", "", "")
    tweet, label = tweet.strip(), label.strip()
    if not (tweet.isascii() and tweet.isdigit()) or label not in ("0", "1"):
        raise InputError(f"{where}: expected {LAYOUT}, got {str([*fields[:-3]])[:80]}.")
    return tweet, int(label), " ".join(rest).strip()  # a tab within a tweet is a blank
