"""The Stanford Sentiment Treebank (Socher et al. 2013) as preprocessed by Jain & Wallace (2019)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from attnaudit.core.errors import InputError
from attnaudit.data.corpus_info import About, Download, describes
from attnaudit.data.reading.options import whole_number, yes_or_no
from attnaudit.data.reading.preprocessing import Preparation, Text, require_parts, vocabulary_size
from attnaudit.data.reading.rows import lines
from attnaudit.data.reading.sources import File, files
from attnaudit.data.splits import SPLITS, Example, Splits

NEUTRAL = 2  # of the five labels 0 to 4
_PART = re.compile(r"\(([0-4])\s|[()]|[^\s()]+")
_BRACKET = re.compile(r"-[LR]RB-")

ABOUT = About(
    title="Stanford Sentiment Treebank",
    task="sentiment of sentences, 2 classes",
    size="6,920 / 872 / 1,821 sentences that are not neutral",
    licence="none stated; distributed for research",
    home="https://nlp.stanford.edu/sentiment/",
    places=(
        ".",
        "trees",
        "sst/trees",
        "sst",
        "trainDevTestTrees_PTB.zip",
        "sst/trainDevTestTrees_PTB.zip",
    ),
    holds=("train.txt", "dev.txt", "test.txt"),
    downloads=(
        Download(
            "https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip",
            # As published with Hugging Face's datasets 1 and 2: datasets/sst/dataset_infos.json.
            "sha256:5c613a4f673fc74097d523a2c83f38e0cc462984d847b82c7aaf36b01cbbbfcc",
            "sst/trainDevTestTrees_PTB.zip",
        ),
    ),
)


@describes(ABOUT)
def sst(
    place: Path,
    *,
    tokeniser: str = "auto",
    min_length: int = 6,
    drop_longest: bool = True,
    replace_numbers: bool = False,
    skip_bad: bool = False,
) -> Splits:
    """Negative (0, 1) against positive (3, 4) sentences of at least min_length tokens.

    Neutral sentences are dropped. The defaults are those of the released code. Its length filter is
    strict and, without an upper bound, uses the length of the longest sentence, so that this one is
    lost from each split (drop_longest). Words with digits are kept, although the paper's appendix A
    replaces them by one word (replace_numbers).
    """
    whole_number("sst", "min_length", min_length, least=1)
    yes_or_no("sst", "drop_longest", drop_longest)
    prepare = Preparation(
        "sst",
        tokeniser=tokeniser,
        replace_numbers=replace_numbers,
        more_than=min_length - 1,
        drop_empty=True,
        skip_bad=skip_bad,
    )
    read: dict[str, tuple[Example, ...]] = {}
    for file in files(place, *(f"{split}.txt" for split in SPLITS)):
        split = Path(file.name).stem
        if split in read:
            raise InputError(
                f"{place}: two files for the split {split!r}, the second is {file.where}. Keep one."
            )
        read[split] = prepare.examples(_texts(file, split, prepare))
    require_parts(place, (split for split in read if read[split]), SPLITS)
    kept: dict[str, tuple[Example, ...]] = {}
    for split in SPLITS:
        longest = max((len(example.tokens) for example in read[split]), default=0)
        prepare.fewer_than = longest if drop_longest else None
        kept[split] = prepare.within_length(read[split], split)
    return prepare.finish(
        train=kept["train"],
        dev=kept["dev"],
        test=kept["test"],
        classes=("negative", "positive"),
        source="Stanford Sentiment Treebank, PTB trees",
        # The published size includes the training words of dropped sentences, and special tokens.
        vocabulary_before_length_filter=vocabulary_size(read["train"]),
    )


def _texts(file: File, split: str, prepare: Preparation) -> Iterator[Text]:
    for number, (where, line) in enumerate(lines(file, prepare.bad)):
        with prepare.bad:
            label, leaves = _tree(line, where)
            if label == NEUTRAL:
                prepare.dropped[f"{split}, neutral"] += 1
                continue
            yield Text(f"{split}/{number}", where, _plain(leaves), int(label > NEUTRAL))


def _tree(line: str, where: str) -> tuple[int, list[str]]:
    """The label and words of one tree: (label word) is a leaf, (label tree tree) a branch."""
    root: int | None = None
    leaves: list[str] = []
    depth = 0
    for part in _PART.finditer(line):
        if depth == 0 and root is not None:
            raise _malformed(where, "something follows the tree", line)
        if part[1] is not None:
            root = int(part[1]) if root is None else root
            depth += 1
        elif depth == 0 or part[0] == "(":
            raise _malformed(where, "a label from 0 to 4 is missing", line)
        elif part[0] == ")":
            depth -= 1
        else:
            leaves.append(part[0])
    if depth or root is None or not leaves:
        raise _malformed(
            where, "a closing bracket is missing" if depth else "it has no words", line
        )
    return root, leaves


def _malformed(where: str, problem: str, line: str) -> InputError:
    return InputError(
        f"{where}: not a tree such as (3 (2 a) (4 word)): {problem}, got {line[:60]!r}. "
        "Download the corpus again."
    )


def _plain(leaves: list[str]) -> str:
    """Replace all but letters, digits and underscores by blanks, as the released notebook does."""
    return " ".join(re.sub(r"\W", " ", _BRACKET.sub(" ", " ".join(leaves))).split())
