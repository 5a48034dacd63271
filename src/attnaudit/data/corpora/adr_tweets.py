"""Tweets that report an adverse drug reaction or do not (Sarker & Gonzalez 2015, Nikfarjam et al. 2015)."""

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

LAYOUT = "tweet id, user id, class (1 = adverse reaction, 0 = none) and text, with tabs between"
GONE = (
    "not available",
    "not found",
)  # what download scripts write for a tweet that was deleted or hidden

ABOUT = About(
    title="Twitter adverse drug reactions (DIEGO lab)",
    task="does a tweet report an adverse drug reaction, 2 classes",
    size="10,822 tweet ids (2015); 21,254 tweets with those of later shared tasks, as Jain & Wallace had them",
    licence="tweets may not be passed on (Twitter's terms); ids and labels for research, citation asked",
    home="https://healthlanguageprocessing.org/",
    places=("adr_tweets", "adr", "adr_classify_twitter_data_downloaded.txt*", "adr_tweets.txt*"),
    holds=("*.txt",),
    steps=(
        "Only tweet ids and labels are given out: get adr_classify_twitter_data and its download script "
        "(download_binary_twitter_data) from https://healthlanguageprocessing.org/ (first published at "
        "http://diego.asu.edu/Publications/ADRClassify.html), fetch the texts under Twitter's terms, and put the file, "
        f"one tweet a line with {LAYOUT}, into the folder adr_tweets of the data folder."
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
    """Tweets of 6 to 99 tokens. The corpus has no splits of its own: test is a stratified fifth, dev 15 % of the rest.

    Shares and test_seed are those of the notebook of Jain & Wallace; dev goes by `seed`. Their texts were changed before
    (base forms of words; DRUG, user, url and number in place of names) by code that was not released: here tweets are as written.
    All files *.txt of the folder are one corpus. A tweet without its text, and one that was met before, is left out and counted.
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
            f"{place}: there is no tweet with a text in it, only {prepare.dropped['not available']} without. "
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
        rule=f"test is {test_share:.0%} (seed {test_seed}), dev {dev_share:.0%} of the rest (seed {seed}), stratified",
        texts="as written; those of Jain & Wallace were changed before by code that was not released",
        vocabulary_before_length_filter=vocabulary_size(train, min_count=min_count),
    )


def _texts(place: Path, prepare: Preparation) -> Iterator[Text]:
    label_of: dict[str, int] = {}
    without: set[str] = set()
    for file in files(place, "*.txt"):
        if "readme" in PurePosixPath(file.name).name.lower():
            continue
        for where, line in lines(file, prepare.bad):
            with prepare.bad:
                tweet, label, text = _tweet(line, where)
                if not text or text.lower() in GONE:
                    without.add(tweet)
                elif tweet in label_of:
                    again = (
                        "met before"
                        if label_of[tweet] == label
                        else "met before with the other label"
                    )
                    prepare.dropped[again] += 1
                else:
                    label_of[tweet] = label
                    yield Text(f"tweet/{tweet}", where, text, label)
    # The list of ids may lie beside the file with the texts: only tweets that have theirs nowhere are missing.
    if missing := without - label_of.keys():
        prepare.dropped["not available"] = len(missing)


def _tweet(line: str, where: str) -> tuple[str, int, str]:
    tweet, _, label, *rest = fields = (*line.split("\t"), "", "", "")
    tweet, label = tweet.strip(), label.strip()
    if not (tweet.isascii() and tweet.isdigit()) or label not in ("0", "1"):
        raise InputError(f"{where}: expected {LAYOUT}, got {str([*fields[:-3]])[:80]}.")
    return tweet, int(label), " ".join(rest).strip()  # a tab within a tweet is a blank
