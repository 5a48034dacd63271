"""The tables of MIMIC-III behind the corpus mimic: diagnoses, and discharge summaries with addenda.

NOTEEVENTS is about four gigabytes of notes. It is read once, row by row, and only what is needed is
kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from sys import intern

from attnaudit.core.errors import InputError
from attnaudit.data.reading.preprocessing import Preparation
from attnaudit.data.reading.rows import lines, table_rows
from attnaudit.data.reading.sources import files, is_archive

DIAGNOSES, NOTES = "DIAGNOSES_ICD.csv", "NOTEEVENTS.csv"
LISTS = {split: f"{split}_50_hadm_ids.csv" for split in ("train", "dev", "test")}
DEIDENTIFIED = "<DE>"
_MARK = re.compile(r"\[\*\*[^\[\]]*\*\*\]")
_AGAIN = re.compile(r"([^\w\s]|_)(?:\s*\1)+")


@dataclass(slots=True)
class Stay:
    """One admission: its patient and its ICD-9 codes without the point (285.21 is 28521)."""

    patient: int
    codes: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Note:
    """A discharge summary or an addendum to one."""

    admission: int
    addendum: bool
    day: date
    where: str
    text: str


def read_stays(place: Path, prepare: Preparation) -> dict[int, Stay]:
    """The admissions in DIAGNOSES_ICD, by HADM_ID."""
    stays: dict[int, Stay] = {}
    for where, row in _table(place, DIAGNOSES, prepare, ("SUBJECT_ID", "HADM_ID", "ICD9_CODE")):
        with prepare.bad:
            patient, admission = _number(row, "SUBJECT_ID", where), _number(row, "HADM_ID", where)
            code = row["ICD9_CODE"].strip()
            if not code:
                prepare.dropped["diagnoses without a code"] += 1
                continue
            if not code.isalnum():
                raise InputError(
                    f"{where}: expected an ICD9_CODE without a point, such as 25000, "
                    f"got {code[:20]!r}."
                )
            stays.setdefault(admission, Stay(patient)).codes.add(intern(code))
    return stays


def discharge_notes(place: Path, wanted: Collection[int], prepare: Preparation) -> Iterator[Note]:
    """The discharge summaries and addenda of the admissions in `wanted`, in file order."""
    needs = ("HADM_ID", "CHARTDATE", "CATEGORY", "DESCRIPTION", "ISERROR", "TEXT")
    for where, row in _table(place, NOTES, prepare, needs):
        if row["CATEGORY"].strip() != "Discharge summary":
            continue
        with prepare.bad:
            if not row["HADM_ID"].strip():
                prepare.dropped["notes without an admission"] += 1
                continue
            admission = _number(row, "HADM_ID", where)
            if admission not in wanted:
                continue
            if row["ISERROR"].strip() == "1":
                prepare.dropped["notes marked as an error"] += 1
                continue
            addendum = row["DESCRIPTION"].strip() == "Addendum"
            yield Note(admission, addendum, _day(row["CHARTDATE"], where), where, row["TEXT"])


def joined(notes: Sequence[Note]) -> str:
    """The notes of an admission as one text: reports before addenda, each by date."""
    return " ".join(note.text for note in sorted(notes, key=lambda note: (note.addendum, note.day)))


def words(text: str, split: Callable[[str], list[str]]) -> list[str]:
    """The tokens of a note: [** … **] is one word, and repeated punctuation marks become one.

    [** … **] replaces what was removed to protect patients. The released code collapses punctuation
    after its tokeniser; this does before, so that any tokeniser can be used.
    """
    tokens: list[str] = []
    for number, piece in enumerate(_MARK.split(text)):
        tokens += [DEIDENTIFIED] * bool(number)
        tokens += split(_AGAIN.sub(r"\1 ", piece))
    return tokens


def admission_lists(place: Path, prepare: Preparation) -> dict[int, str]:
    """{admission: split} of the three published lists of admissions; empty if none is there."""
    split_of: dict[int, str] = {}
    seen: set[str] = set()
    for split, name in LISTS.items():
        for file in files(place, name) if place.is_dir() or is_archive(place) else ():
            seen.add(name)
            for where, line in lines(file, prepare.bad):
                with prepare.bad:
                    admission = _number({"HADM_ID": line}, "HADM_ID", where)
                    if split_of.setdefault(admission, split) != split:
                        raise InputError(
                            f"{where}: admission {admission} is in {split_of[admission]} too. "
                            "Download the lists again."
                        )
            break
    missing = [name for name in LISTS.values() if name not in seen]
    if seen and missing:
        raise InputError(
            f"{place}: {', '.join(sorted(seen))} is there, but {', '.join(missing)} is not. "
            "Add it, or write splits=seeded."
        )
    return split_of


def _table(
    place: Path, name: str, prepare: Preparation, needs: Sequence[str]
) -> Iterator[tuple[str, dict[str, str]]]:
    for file in files(place, name):
        yield from table_rows(file, prepare.bad, needs=needs)
        return  # the same table may be there a second time, compressed
    raise InputError(
        f"{place}: {name} is not in it. "
        "Put the file there as PhysioNet distributes it (.csv.gz is fine)."
    )


def _number(row: dict[str, str], column: str, where: str) -> int:
    value = row[column].strip()
    if not (value.isascii() and value.isdigit() and len(value) < 19):
        raise InputError(f"{where}: expected a whole number as {column}, got {value[:40]!r}.")
    return int(value)


def _day(value: str, where: str) -> date:
    try:
        return date.fromisoformat(value.strip()[:10])
    except ValueError as error:
        raise InputError(
            f"{where}: expected a CHARTDATE such as 2151-08-04, got {value[:40]!r}."
        ) from error
