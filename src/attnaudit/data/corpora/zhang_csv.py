"""The csv files of Zhang, Zhao & LeCun (2015): no header; a class number, then texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath

from attnaudit.core.errors import InputError
from attnaudit.data.reading.preprocessing import Preparation, Text, require_parts
from attnaudit.data.reading.rows import csv_rows
from attnaudit.data.reading.sources import File, files
from attnaudit.data.splits import Example

HOME = "https://arxiv.org/abs/1509.01626"
FOLDER = (
    "https://drive.google.com/drive/folders/"
    "0Bz8a_Dbh9Qhbfll6bVpmNUtUcFdjYmF2SEpmZUZUcVNiMUw1TWN6RDV3a0JHT3kxLVhVR2M"
)
SPLITS = ("train", "test")
_ESCAPE = re.compile(r'\\(n|")')


@dataclass(frozen=True)
class Layout:
    """The columns and classes of one of the corpora."""

    columns: tuple[str, ...]  # names of the text columns, after the class
    use: tuple[str, ...]  # those that make up the text, joined by a blank
    class_count: int
    labels: Mapping[int, int]  # class in the file -> label; other classes are dropped and counted
    escapes: bool = True  # read \n as a line break, which becomes a blank, and \" as a quote


def read(
    place: Path, prepare: Preparation, layout: Layout, *, rows: int | None = None
) -> dict[str, tuple[Example, ...]]:
    """The examples of train*.csv and test*.csv in file order; only the first `rows`, if given."""
    examples: dict[str, tuple[Example, ...]] = {}
    for file in files(place, *(f"{split}*.csv" for split in SPLITS)):
        name = PurePosixPath(file.name).name
        split = next((split for split in SPLITS if name.startswith(split)), None)
        if split is None:  # another file in a folder whose name begins with train or test
            continue
        if split in examples:
            raise InputError(
                f"{file.where}: a second file for {split}. Keep one {split}*.csv in the folder."
            )
        examples[split] = prepare.examples(_texts(file, split, prepare, layout, rows))
    require_parts(place, examples, SPLITS)
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
            text = _joined([fields[index] for index in used], layout)
            yield Text(f"{split}/{number}", where, text, label)


def _class(field: str, where: str, count: int) -> int:
    if not re.fullmatch("[0-9]{1,3}", field.strip()) or not 1 <= int(field) <= count:
        raise InputError(
            f"{where}: expected a class from 1 to {count} in the first column, got {field[:40]!r}. "
            "The released files have no header; download them again if in doubt."
        )
    return int(field)


def _joined(fields: Sequence[str], layout: Layout) -> str:
    text = " ".join(fields)
    if not layout.escapes:
        return text
    return _ESCAPE.sub(lambda match: " " if match[1] == "n" else match[1], text)
