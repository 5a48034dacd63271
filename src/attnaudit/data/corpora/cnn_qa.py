"""CNN question answering (Hermann et al. 2015): which entity of the article fills the gap?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from attnaudit.core.errors import InputError
from attnaudit.data.corpus_info import About, describes
from attnaudit.data.reading.options import whole_number
from attnaudit.data.reading.preprocessing import Preparation, Text, require_parts
from attnaudit.data.reading.rows import whole_text
from attnaudit.data.reading.sources import File, files
from attnaudit.data.splits import Example, Splits

FOLDERS = {"training": "train", "validation": "dev", "test": "test"}
GAP = "@placeholder"
PARTS = ("address", "passage", "question", "answer", "entities")  # separated by blank lines
_ENTITY = re.compile(r"@entity([0-9]{1,9})")

ABOUT = About(
    title="CNN question answering (DeepMind's reading comprehension data)",
    task="news article and sentence with a gap; the entities of the article are the candidates",
    size="380,298 / 3,924 / 3,198 questions",
    licence="Apache 2.0 for the scripts that make the questions; the articles are CNN's, "
    "offered for research",
    home="https://cs.nyu.edu/~kcho/DMQA/",
    places=(
        "cnn",
        "cnn_qa/cnn",
        "cnn_qa",
        "cnn.tgz",
        "cnn_qa/cnn.tgz",
        "cnn.tar*",
        "cnn_qa/cnn.tar*",
    ),
    holds=tuple(f"questions/{folder}" for folder in FOLDERS),
    steps="The articles are CNN's and may not be redistributed. Get cnn.tgz (questions, not "
    "stories) from https://cs.nyu.edu/~kcho/DMQA/, or make the questions with "
    "https://github.com/google-deepmind/rc-data, and put cnn.tgz into the data folder as it is.",
)


@describes(ABOUT)
def cnn_qa(
    place: Path, *, sentences: bool = False, min_count: int = 8, skip_bad: bool = False
) -> Splits:
    """Classes are the entities @entity0, @entity1, …; candidates are those in the passage.

    The files are tokenised and used as they are: numbers do not become "qqq", as entities have
    numbers too. Questions whose answer is not in the passage are dropped and counted. Splits are
    the official ones; sentences=true is for hierarchical models.
    """
    whole_number("cnn_qa", "min_count", min_count, least=1)
    prepare = Preparation(
        "cnn_qa", tokeniser="blanks", replace_numbers=False, sentences=sentences, skip_bad=skip_bad
    )
    seen: set[str] = set()
    # An archive has its files in any order, so they are sorted by id.
    read = sorted(
        prepare.examples(_texts(place, prepare, seen)), key=lambda example: example.example_id
    )
    require_parts(place, seen, (f"questions/{folder}" for folder in FOLDERS))
    numbers = sorted({number for example in read for number in example.candidates or ()})
    kept = {split: _numbered(read, split, numbers) for split in FOLDERS.values()}
    return prepare.finish(
        train=kept["train"],
        dev=kept["dev"],
        test=kept["test"],
        classes=tuple(f"@entity{number}" for number in numbers),
        min_count=min_count,
        source="CNN questions of Hermann et al. 2015",
    )


def _texts(place: Path, prepare: Preparation, seen: set[str]) -> Iterator[Text]:
    """The texts, with entity numbers as labels and candidates; the classes are not known yet.

    Adds the folders that are read to `seen`.
    """
    for file in files(place, *(f"questions/{folder}/*.question" for folder in FOLDERS)):
        with prepare.bad:
            path = PurePosixPath(file.name)
            seen.add(f"questions/{path.parent.name}")
            split = FOLDERS[path.parent.name]
            passage, question, answer = _parts(file)
            words = passage.split()
            candidates = sorted({int(match[1]) for match in map(_ENTITY.fullmatch, words) if match})
            if answer not in candidates:
                prepare.dropped[f"{split}, answer not in the passage"] += 1
                continue
            yield Text(
                f"{split}/{path.stem}",
                file.where,
                words,
                answer,
                query=question.split(),
                candidates=tuple(candidates),
            )


def _parts(file: File) -> tuple[str, str, int]:
    parts = whole_text(file).replace("\r\n", "\n").strip().split("\n\n")
    if len(parts) != len(PARTS):
        raise InputError(
            f"{file.where}: expected {len(PARTS)} parts separated by blank lines "
            f"({', '.join(PARTS)}), got {len(parts)}. Download the corpus again."
        )
    _, passage, question, answer, _ = parts
    if GAP not in question:
        raise InputError(
            f"{file.where}, line 5: expected a question with {GAP} in it, got {question[:60]!r}."
        )
    entity = _ENTITY.fullmatch(answer.strip())
    if entity is None:
        raise InputError(
            f"{file.where}, line 7: expected an answer such as @entity3, got {answer[:60]!r}."
        )
    return passage, question, int(entity[1])


def _numbered(read: Iterable[Example], split: str, numbers: list[int]) -> tuple[Example, ...]:
    """The examples of a split, with entity numbers replaced by class labels."""
    labels = {number: label for label, number in enumerate(numbers)}
    return tuple(
        replace(
            example,
            label=labels[example.label or 0],
            candidates=tuple(labels[number] for number in example.candidates or ()),
        )
        for example in read
        if example.example_id.startswith(f"{split}/")
    )
