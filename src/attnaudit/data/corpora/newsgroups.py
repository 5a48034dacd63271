"""20 Newsgroups, "bydate" (Lang 1995): baseball against hockey, any other groups, or all 20."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from attnaudit.core.errors import InputError
from attnaudit.data.corpora.newsgroups_order import GROUPS, notebook_order, notebook_split
from attnaudit.data.corpus_info import About, Download, describes
from attnaudit.data.reading.class_subset import class_indices
from attnaudit.data.reading.options import one_of, whole_number
from attnaudit.data.reading.preprocessing import Preparation, Text, require_parts, vocabulary_size
from attnaudit.data.reading.rows import whole_text
from attnaudit.data.reading.sources import files
from attnaudit.data.reading.splitting import check_share, divide
from attnaudit.data.splits import Splits

PARTS = {"20news-bydate-train": "train", "20news-bydate-test": "test"}
_QUOTE = re.compile(r"[>|]|In article|Quoted from|.*(?:writes in|writes:|wrote:|says:|said:)")
_WORD_OR_LAST_MARK = re.compile(r"\w+|[^\w\s](?=\w|\Z)")

ABOUT = About(
    title="20 Newsgroups, bydate",
    task="newsgroup of posts, 2 classes (baseball, hockey) or up to 20",
    size="11,314 / 7,532 posts, of baseball and hockey 1,197 / 796",
    licence="none stated; freely distributed for research",
    home="http://qwone.com/~jason/20Newsgroups/",
    places=(
        "20news-bydate",
        "20news/20news-bydate",
        "20news",
        ".",
        "20news-bydate.t*",
        "20news/20news-bydate.t*",
        "20news-bydate*.t*",  # an archive of some of the groups
        "20news/20news-bydate*.t*",
    ),
    holds=tuple(PARTS),
    downloads=(
        Download(
            "https://ndownloader.figshare.com/files/5975967",
            "sha256:8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
            "20news/20news-bydate.tar.gz",
        ),
    ),
)


@describes(ABOUT)
def newsgroups(
    place: Path,
    *,
    groups: str = "rec.sport.baseball+rec.sport.hockey",
    split: str = "paper",
    tokeniser: str = "auto",
    replace_numbers: bool = True,
    more_than: int | None = 6,
    fewer_than: int | None = 500,
    dev_share: float = 0.2,
    min_count: int = 2,
    seed: int = 0,
    skip_bad: bool = False,
) -> Splits:
    """Posts of 7 to 499 tokens without headers, signatures and quotations.

    Classes are baseball (0) and hockey (1), as in Jain & Wallace (2019); groups=mac+ibm chooses
    others, groups=all all 20. split=paper pools all posts and takes a stratified fifth for test and
    a fifth of the rest for dev, before the length filter, with the order and seed of the released
    notebook; split=bydate is the official split, with dev_share of train as dev. After tokenising,
    each run of blanks and punctuation becomes its last character, so that few marks remain and
    there are no sentences.
    """
    indices = class_indices("newsgroups", "groups", groups, GROUPS)
    chosen = tuple(GROUPS[index] for index in indices)
    one_of("newsgroups", "split", split, ("paper", "bydate"))
    check_share("newsgroups: dev_share", dev_share)
    whole_number("newsgroups", "min_count", min_count, least=1)
    prepare = Preparation(
        "newsgroups",
        tokeniser=tokeniser,
        replace_numbers=replace_numbers,
        more_than=more_than,
        fewer_than=fewer_than,
        drop_empty=True,
        skip_bad=skip_bad,
    )
    posts: dict[str, list[str]] = defaultdict(list)  # "train/rec.autos" -> names of its posts
    read = prepare.examples(_texts(place, prepare, chosen, posts))
    require_parts(place, posts, (f"{part}/{group}" for part in PARTS.values() for group in chosen))
    if split == "paper":
        train, dev, test = notebook_split(notebook_order(read, posts, chosen))
        rule = (
            "a fifth of all posts is test, a fifth of the rest dev, stratified, "
            "order and seed of the released notebook"
        )
    else:
        # An archive has its files in any order.
        read = tuple(sorted(read, key=lambda example: example.example_id))
        official = {
            part: tuple(post for post in read if post.example_id.startswith(f"{part}/"))
            for part in PARTS.values()
        }
        train, dev = divide(official["train"], dev_share, seed=seed)
        test = official["test"]
        rule = f"official train and test, dev is {dev_share:.0%} of train, stratified, seed {seed}"
    return prepare.finish(
        train=prepare.within_length(train, "train"),
        dev=prepare.within_length(dev, "dev"),
        test=prepare.within_length(test, "test"),
        classes=chosen,
        min_count=min_count,
        source="20 Newsgroups, bydate",
        rule=rule,
        posts={part: len(names) for part, names in sorted(posts.items())},
        vocabulary_before_length_filter=vocabulary_size(train, min_count=min_count),
    )


def _texts(
    place: Path, prepare: Preparation, chosen: Sequence[str], posts: dict[str, list[str]]
) -> Iterator[Text]:
    """The posts of the chosen groups; adds their names to `posts`."""
    for file in files(place, *(f"{part}/{group}/*" for part in PARTS for group in chosen)):
        with prepare.bad:
            *_, part, group, name = PurePosixPath(file.name).parts
            if part not in PARTS or group not in chosen or not re.fullmatch("[0-9]+", name):
                raise InputError(
                    f"{file.where}: expected a post <group>/<number>, as in rec.autos/101551. "
                    "Remove files that do not belong to the corpus from its folders."
                )
            where = f"{PARTS[part]}/{group}"
            posts[where].append(name)
            text = own_words(whole_text(file, encoding="latin-1"))
            words = set_apart(
                prepare.cleaner.clean(prepare.tokeniser.split(" ".join(text.split())))
            )
            yield Text(f"{where}/{name}", file.where, words, chosen.index(group))


def own_words(post: str) -> str:
    """A post without its header, signature and quotations, by the rules of scikit-learn.

    The header ends at the first empty line. The signature begins at the last line that is blank or
    all hyphens, unless that is the first line. Quotations are lines that begin with ">", "|",
    "In article" or "Quoted from", or contain "writes in", "writes:", "wrote:", "says:" or "said:".
    """
    body = post.partition("\n\n")[2]
    lines = body.strip().split("\n")
    breaks = [number for number, line in enumerate(lines) if not line.strip().strip("-")]
    lines = lines[: breaks[-1]] if breaks and breaks[-1] else body.split("\n")
    return "\n".join(line for line in lines if not _QUOTE.match(line))


def set_apart(words: Sequence[str]) -> list[str]:
    """Replace every run of punctuation and blanks by its last character, if that is not a blank."""
    return _WORD_OR_LAST_MARK.findall(" ".join(words))
