"""CNN news question answering (Hermann et al. 2015): which of the entities in the article fills the gap in the sentence?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from attnaudit.core.errors import InputError
from attnaudit.data.corpus_info import About, describes
from attnaudit.data.reading.options import whole_number
from attnaudit.data.reading.preprocessing import Preparation, Text, require
from attnaudit.data.reading.rows import whole_text
from attnaudit.data.reading.sources import File, files
from attnaudit.data.splits import Example, Splits

FOLDERS = {"training": "train", "validation": "dev", "test": "test"}
GAP = "@placeholder"
PARTS = (
    "address",
    "passage",
    "question",
    "answer",
    "entities",
)  # with a blank line between any two
_ENTITY = re.compile(r"@entity([0-9]{1,9})")

ABOUT = About(
    title="CNN question answering (DeepMind's reading comprehension data)",
    task="news article and sentence with a gap; the entities of the article are the candidates",
    size="380,298 / 3,924 / 3,198 questions",
    licence="Apache 2.0 for the scripts that make the questions; the articles are CNN's, offered for research",
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
    steps="The articles are CNN's and may not simply be passed on. Get cnn.tgz (questions, not stories) from "
    "https://cs.nyu.edu/~kcho/DMQA/, or make the questions with https://github.com/google-deepmind/rc-data, and put "
    "cnn.tgz into the data folder as it is.",
)


@describes(ABOUT)
def cnn_qa(
    place: Path, *, sentences: bool = False, min_count: int = 8, skip_bad: bool = False
) -> Splits:
    """Classes are the entities @entity0, @entity1, … that occur; an example's candidates are those of its passage.

    The files come tokenised and are taken as they are: no number becomes "qqq", as the entities have numbers too. Questions whose
    answer is not in the passage are dropped and counted. Splits are the official ones, sentences=true is for hierarchical models.
    """
    whole_number("cnn_qa", "min_count", min_count, least=1)
    prepare = Preparation(
        "cnn_qa", tokeniser="blanks", replace_numbers=False, sentences=sentences, skip_bad=skip_bad
    )
    met: set[str] = set()
    # An archive has its files in any order; ids are the same wherever they lie.
    read = sorted(prepare.examples(_texts(place, prepare, met)), key=lambda each: each.example_id)
    require(place, met, (f"questions/{folder}" for folder in FOLDERS))
    numbers = sorted({number for each in read for number in each.candidates or ()})
    kept = {split: _numbered(read, split, numbers) for split in FOLDERS.values()}
    return prepare.finish(
        train=kept["train"],
        dev=kept["dev"],
        test=kept["test"],
        classes=tuple(f"@entity{number}" for number in numbers),
        min_count=min_count,
        source="CNN questions of Hermann et al. 2015",
    )


def _texts(place: Path, prepare: Preparation, met: set[str]) -> Iterator[Text]:
    """Labels and candidates are the numbers of entities here: which of them occur is known when all is read."""
    for file in files(place, *(f"questions/{folder}/*.question" for folder in FOLDERS)):
        with prepare.bad:
            path = PurePosixPath(file.name)
            met.add(f"questions/{path.parent.name}")
            split = FOLDERS[path.parent.name]
            passage, question, answer = _parts(file)
            words = passage.split()
            candidates = sorted({int(found[1]) for found in map(_ENTITY.fullmatch, words) if found})
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
            f"{file.where}: expected {len(PARTS)} parts with a blank line between any two ({', '.join(PARTS)}), "
            f"got {len(parts)}. Take the file from the release anew."
        )
    _, passage, question, answer, _ = parts
    if GAP not in question:
        raise InputError(
            f"{file.where}, line 5: expected a question with {GAP} in it, got {question[:60]!r}."
        )
    found = _ENTITY.fullmatch(answer.strip())
    if found is None:
        raise InputError(
            f"{file.where}, line 7: expected an answer such as @entity3, got {answer[:60]!r}."
        )
    return passage, question, int(found[1])


def _numbered(read: Iterable[Example], split: str, numbers: list[int]) -> tuple[Example, ...]:
    """The examples of a split, with classes in place of the entities' own numbers."""
    label = {number: at for at, number in enumerate(numbers)}
    return tuple(
        replace(
            each,
            label=label[each.label or 0],
            candidates=tuple(label[number] for number in each.candidates or ()),
        )
        for each in read
        if each.example_id.startswith(f"{split}/")
    )
