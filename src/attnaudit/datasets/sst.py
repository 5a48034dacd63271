"""The Stanford Sentiment Treebank (Socher et al. 2013) as Jain & Wallace (2019) prepare it: two classes, whole sentences."""

from __future__ import annotations

import re
from pathlib import Path

from attnaudit.datasets.options import whole_number, yes_or_no
from attnaudit.datasets.splits import Example, Splits
from attnaudit.datasets.tokenise import clean, tokenise
from attnaudit.errors import InputError

SPLITS = ("train", "dev", "test")
FOLDERS = (".", "trees", "sst/trees", "sst")
NEUTRAL = 2  # of the five labels 0 to 4
_PART = re.compile(r"\(([0-4])\s|[()]|[^\s()]+")
_BRACKET = re.compile(r"-[LR]RB-")


def sst(
    folder: Path,
    *,
    tokeniser: str = "auto",
    min_length: int = 6,
    drop_longest: bool = True,
    replace_numbers: bool = False,
) -> Splits:
    """Negative (0, 1) against positive (3, 4) sentences of at least min_length tokens; neutral ones are dropped.

    The defaults are those of the released code. Its length filter is strict and, given no upper bound, takes the longest
    sentence for it, so that this one is lost from each split (drop_longest). Words with digits stay as they are, though
    the paper's appendix A makes them one word (replace_numbers).
    """
    whole_number("sst", "min_length", min_length, least=1)
    yes_or_no("sst", "drop_longest", drop_longest)
    yes_or_no("sst", "replace_numbers", replace_numbers)
    trees = _find(Path(folder))
    splits: dict[str, tuple[Example, ...]] = {}
    dropped: dict[str, dict[str, int]] = {}
    vocabulary = 0
    name = ""
    for split in SPLITS:
        sentences = _read(trees / f"{split}.txt")
        found, name = tokenise((_plain(leaves) for _, leaves in sentences), tokeniser)
        every = [
            Example(
                f"{split}/{number}",
                clean(tokens, replace_numbers=replace_numbers),
                label=int(label > NEUTRAL),
            )
            for number, ((label, _), tokens) in enumerate(zip(sentences, found, strict=True))
            if label != NEUTRAL
        ]
        limit = max((len(each.tokens) for each in every), default=0) + (not drop_longest)
        splits[split] = tuple(each for each in every if min_length <= len(each.tokens) < limit)
        dropped[split] = {
            "neutral": len(sentences) - len(every),
            "short": sum(len(each.tokens) < min_length for each in every),
            "longest": sum(len(each.tokens) >= max(limit, min_length) for each in every),
        }
        if split == "train":
            vocabulary = len({word for each in every for word in each.tokens}) + 4
    return Splits(
        name="sst",
        train=splits["train"],
        dev=splits["dev"],
        test=splits["test"],
        classes=("negative", "positive"),
        tokeniser=name,
        notes={
            "source": "Stanford Sentiment Treebank, PTB trees",
            "dropped": dropped,
            # The published size counts the training words of the dropped sentences too, and the four marks.
            "vocabulary_before_length_filter": vocabulary,
        },
    )


def _find(folder: Path) -> Path:
    places = [folder / each for each in FOLDERS]
    for place in places:
        if all((place / f"{split}.txt").is_file() for split in SPLITS):
            return place
    raise InputError(
        f"sst: train.txt, dev.txt and test.txt are not together in any of {', '.join(map(str, places))}. "
        "Get trainDevTestTrees_PTB.zip from https://nlp.stanford.edu/sentiment/ and unpack it into one of them."
    )


def _read(path: Path) -> list[tuple[int, list[str]]]:
    """(root label, leaves) of each tree."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text ({error}). Take the file from the release anew.") from error
    return [
        _tree(line, f"{path}, line {number}") for number, line in enumerate(lines, start=1) if line.strip()
    ]


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
        raise _malformed(where, "a closing bracket is missing" if depth else "it has no words", line)
    return root, leaves


def _malformed(where: str, problem: str, line: str) -> InputError:
    return InputError(
        f"{where}: not a tree such as (3 (2 a) (4 word)): {problem}, got {line[:60]!r}. Take the file from the release anew."
    )


def _plain(leaves: list[str]) -> str:
    """The cleaning of the released notebook: brackets and whatever is no letter, digit or underscore become blanks."""
    return " ".join(re.sub(r"\W", " ", _BRACKET.sub(" ", " ".join(leaves))).split())
