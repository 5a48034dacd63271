"""Stanford Natural Language Inference (Bowman et al. 2015): neutral, contradiction, entailment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from attnaudit.core.errors import InputError
from attnaudit.data.corpus_info import About, Download, describes
from attnaudit.data.reading.options import one_of, whole_number
from attnaudit.data.reading.preprocessing import Preparation, Text, vocabulary_size
from attnaudit.data.reading.rows import json_rows, table_rows
from attnaudit.data.reading.sources import File, files
from attnaudit.data.splits import SPLITS, Example, Splits

CLASSES = ("neutral", "contradiction", "entailment")
UNDECIDED = "-"  # the annotators did not agree
COLUMNS = ("gold_label", "sentence1", "sentence2")
ENDINGS = {"auto": ("jsonl", "txt", "tsv"), "jsonl": ("jsonl",), "tsv": ("txt", "tsv")}
HEAD = "head"  # the first lines of another file; read only if requested
_NAME = re.compile(r"snli_1\.0_(train|dev|test)[._-]?(.*)\.(jsonl|txt|tsv)")

ABOUT = About(
    title="Stanford Natural Language Inference 1.0 (SNLI)",
    task="premise and hypothesis, 3 classes",
    size="549,367 / 9,842 / 9,824 pairs with a gold label",
    licence="CC BY-SA 4.0",
    home="https://nlp.stanford.edu/projects/snli/",
    places=("snli", "snli/snli_1.0", "snli_1.0", "snli/snli_1.0.zip", "snli_1.0.zip"),
    holds=tuple(f"snli_1.0_{split}*.*" for split in SPLITS),
    downloads=(
        Download(
            "https://nlp.stanford.edu/projects/snli/snli_1.0.zip",
            "sha256:afb3d70a5af5d8de0d9d81e2637e0fb8c22d1235c2749d83125ca43dab0dbd3e",
            "snli/snli_1.0.zip",
        ),
    ),
)


class Candidate(NamedTuple):
    """A file that may hold a split. Candidates are compared field by field; the smallest wins."""

    partial: bool
    ending: int  # index among the endings jsonl, txt, tsv
    depth: int
    name: str
    split: str
    part: str  # what follows the split in the file name: "" or "subset20k"


@describes(ABOUT)
def snli(
    place: Path,
    *,
    format: str = "auto",
    part: str | None = None,
    tokeniser: str = "auto",
    replace_numbers: bool = True,
    min_count: int = 3,
    skip_bad: bool = False,
) -> Splits:
    """Attention is over the premise; the hypothesis is the query.

    Pairs without a gold label ("-") are dropped and counted. Each split is read from one file:
    snli_1.0_train.jsonl, .txt or .tsv in this order (format=jsonl or tsv: only these), else a part
    of it such as snli_1.0_train_subset20k.tsv. part=NAME prefers that part; part=head, the first
    lines, is read only if requested. Classes are in the order of Jain & Wallace's table 1; their
    released code sorts the names, so that its class 0 is contradiction.
    """
    one_of("snli", "format", format, tuple(ENDINGS))
    if part is not None and not isinstance(part, str):
        raise InputError(
            f"snli: part must be a name such as head, got {part!r}. "
            "Write for example snli:part=head."
        )
    whole_number("snli", "min_count", min_count, least=1)
    prepare = Preparation(
        "snli", tokeniser=tokeniser, replace_numbers=replace_numbers, skip_bad=skip_bad
    )
    chosen = _chosen(place, format, part)
    read: dict[str, tuple[Example, ...]] = {}
    for file in files(place, "snli_1.0_*"):
        if file.name in chosen:
            split = chosen[file.name]
            read[split] = prepare.examples(_texts(file, split, prepare))
    return prepare.finish(
        train=read["train"],
        dev=read["dev"],
        test=read["test"],
        classes=CLASSES,
        min_count=min_count,
        source="SNLI 1.0",
        files={split: PurePosixPath(name).name for name, split in chosen.items()},
        vocabulary=vocabulary_size(read["train"], min_count=min_count),
    )


def _chosen(place: Path, format: str, part: str | None) -> dict[str, str]:
    """{file name: split}, chosen by file names alone."""
    candidates = sorted(
        candidate
        for candidate in (_candidate(file.name) for file in files(place, "snli_1.0_*"))
        if candidate
    )
    names = ", ".join(candidate.name for candidate in candidates) or "nothing of SNLI"
    # Worst first: in the dictionaries below, later entries win.
    ranked = [
        candidate
        for candidate in reversed(candidates)
        if ENDINGS["auto"][candidate.ending] in ENDINGS[format]
    ]
    requested = {
        candidate.split: candidate
        for candidate in ranked
        if part is not None and candidate.part == part
    }
    if part is not None and not requested:
        raise InputError(
            f"{place}: no file snli_1.0_<split>_{part} is in it. There is: {names}. "
            "Choose another part, or none."
        )
    best = {
        candidate.split: candidate for candidate in ranked if candidate.part != HEAD
    } | requested
    missing = [split for split in SPLITS if split not in best]
    if missing:
        raise InputError(
            f"{place}: no file snli_1.0_{missing[0]}.{'/'.join(ENDINGS[format])} is in it. "
            f"There is: {names}. "
            "Put the files of snli_1.0.zip there, or choose another format or part."
        )
    return {best[split].name: split for split in SPLITS}


def _candidate(name: str) -> Candidate | None:
    match = _NAME.fullmatch(PurePosixPath(name).name)
    if match is None:
        return None
    split, part, ending = match.groups()
    return Candidate(bool(part), ENDINGS["auto"].index(ending), name.count("/"), name, split, part)


def _texts(file: File, split: str, prepare: Preparation) -> Iterator[Text]:
    for number, (where, row) in enumerate(_rows(file, prepare)):
        with prepare.bad:
            label, premise, hypothesis = (_field(row, column, where) for column in COLUMNS)
            if label == UNDECIDED:
                prepare.dropped[f"{split}, no gold label"] += 1
                continue
            if label not in CLASSES:
                raise InputError(
                    f"{where}: the gold_label must be one of {', '.join(CLASSES)} or {UNDECIDED}, "
                    f"got {label[:60]!r}."
                )
            yield Text(f"{split}/{number}", where, premise, CLASSES.index(label), query=hypothesis)


def _rows(file: File, prepare: Preparation) -> Iterator[tuple[str, dict[str, Any]]]:
    if file.name.endswith(".jsonl"):
        return json_rows(file, prepare.bad)
    # In the official .txt, quotation marks have no special meaning; a .tsv is a csv with tabs.
    return table_rows(
        file, prepare.bad, needs=COLUMNS, delimiter="\t", quoted=not file.name.endswith(".txt")
    )


def _field(row: dict[str, Any], column: str, where: str) -> str:
    value = row.get(column)
    if not isinstance(value, str):
        raise InputError(
            f"{where}: expected text in the field {column!r}, got {str(value)[:60]!r}."
        )
    return value
