"""The csv files of Zhang, Zhao & LeCun (2015): one for train, one for test, without a header; a class from 1 on, then texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath

from attnaudit.core.errors import InputError
from attnaudit.data.reading.preprocessing import Preparation, Text, require
from attnaudit.data.reading.rows import csv_rows
from attnaudit.data.reading.sources import File, files
from attnaudit.data.splits import Example

HOME = "https://arxiv.org/abs/1509.01626"
FOLDER = "https://drive.google.com/drive/folders/0Bz8a_Dbh9Qhbfll6bVpmNUtUcFdjYmF2SEpmZUZUcVNiMUw1TWN6RDV3a0JHT3kxLVhVR2M"
SPLITS = ("train", "test")
_ESCAPE = re.compile(r'\\(n|")')


@dataclass(frozen=True)
class Layout:
    """How the rows of one of the corpora are read."""

    columns: tuple[str, ...]  # names of the text columns, after the class
    use: tuple[str, ...]  # those that make up the text, joined by a blank
    class_count: int
    labels: Mapping[
        int, int
    ]  # class in the file -> label; rows of other classes are left out and counted
    escapes: bool = True  # \n is a line break, which becomes a blank, and \" a quotation mark


def read(
    place: Path, prepare: Preparation, layout: Layout, *, rows: int | None = None
) -> dict[str, tuple[Example, ...]]:
    """The examples of train*.csv and test*.csv, in the order of their rows; of each file the first `rows`, if given."""
    examples: dict[str, tuple[Example, ...]] = {}
    for file in files(place, *(f"{split}*.csv" for split in SPLITS)):
        split = next(
            (each for each in SPLITS if PurePosixPath(file.name).name.startswith(each)), None
        )
        if split is None:  # some other file in a folder train…
            continue
        if split in examples:
            raise InputError(
                f"{file.where}: a second file for {split}. Leave one {split}*.csv there, and put the other elsewhere."
            )
        examples[split] = prepare.examples(_texts(file, split, prepare, layout, rows))
    require(place, examples, SPLITS)
    return examples


def _texts(
    file: File, split: str, prepare: Preparation, layout: Layout, rows: int | None
) -> Iterator[Text]:
    used = [1 + layout.columns.index(name) for name in layout.use]
    for number, (where, fields) in enumerate(
        islice(csv_rows(file, prepare.bad, columns=1 + len(layout.columns)), rows)
    ):
        with prepare.bad:
            label = layout.labels.get(_class(fields[0], where, layout.class_count))
            if label is None:
                prepare.dropped[f"{split}, other classes"] += 1
                continue
            yield Text(
                f"{split}/{number}", where, _joined([fields[at] for at in used], layout), label
            )


def _class(field: str, where: str, count: int) -> int:
    if not re.fullmatch("[0-9]{1,3}", field.strip()) or not 1 <= int(field) <= count:
        raise InputError(
            f"{where}: expected a class from 1 to {count} in the first column, got {field[:40]!r}. "
            "The files of the release have no header; take them anew if in doubt."
        )
    return int(field)


def _joined(fields: Sequence[str], layout: Layout) -> str:
    text = " ".join(fields)
    return (
        _ESCAPE.sub(lambda found: " " if found[1] == "n" else found[1], text)
        if layout.escapes
        else text
    )
