"""mimic on small generated files: the corpus may not be redistributed."""

from __future__ import annotations

import csv
import gzip
import io
import time
import tracemalloc
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from attnaudit.core.errors import InputError
from attnaudit.data import load
from attnaudit.data.corpora.mimic import mimic
from attnaudit.data.corpora.mimic_notes import discharge_notes, words
from attnaudit.data.reading.preprocessing import Preparation
from attnaudit.data.splits import Example, Splits


def test_anemia_is_acute_only_against_chronic_only(tmp_path: Path) -> None:
    codes = {number: ["4019", "2851"] for number in range(100, 140)}
    codes |= {number: [("28521", "28522", "28529")[number % 3]] for number in range(200, 220)}
    codes |= {300: ["2851", "28521"], 301: ["2859"], 302: ["4019"], 303: ["28522", "2851"]}
    place = _mimic(tmp_path, codes)
    read = mimic(place, task="anemia", more_than=None, tokeniser="regex")
    assert _labels(read) == {
        f"admission/{number}": int(number < 200) for number in codes if number < 300
    }
    assert [len(split) for split in (read.train, read.dev, read.test)] == [40, 8, 12]
    assert [sum(each.label or 0 for each in split) for split in (read.dev, read.test)] == [5, 8]
    assert read.notes["dropped"]["admissions with acute and chronic anemia"] == 2
    assert (read.name, read.classes, read.min_count) == ("mimic-anemia", ("chronic", "acute"), 5)
    assert (
        read.notes["labels"]
        == "1 is acute; acute in the released code of Jain & Wallace, chronic in the paper's text"
    )


def test_the_labels_of_the_papers_text_are_the_other_way_round_in_the_same_splits(
    tmp_path: Path,
) -> None:
    place = _mimic(tmp_path, _anemia(60))
    code, text = (
        mimic(place, task="anemia", positive=positive) for positive in ("acute", "chronic")
    )
    assert text.classes == ("acute", "chronic")
    assert {name: 1 - label for name, label in _labels(code).items()} == _labels(text)
    assert [each.example_id for each in code.test] == [each.example_id for each in text.test]


def test_the_anemia_split_is_that_of_the_released_code(tmp_path: Path) -> None:
    """Its frame has chronic before acute admissions, by patient and admission; seed 12939."""
    from sklearn.model_selection import train_test_split

    codes = _anemia(60)
    patients = {number: 1000 - number % 7 if number % 3 else 5000 - number for number in codes}
    rows = sorted(codes, key=lambda number: (codes[number] == ["2851"], patients[number], number))
    place = _mimic(tmp_path, codes, patients=patients)
    kind = [codes[number] == ["2851"] for number in rows]
    _, expected = train_test_split(range(60), stratify=kind, test_size=0.2, random_state=12939)
    read = mimic(place, task="anemia", more_than=None)
    assert {each.example_id for each in read.test} == {f"admission/{rows[at]}" for at in expected}
    in_train = {patients[int(each.example_id[10:])] for each in read.train}
    again = sum(patients[int(each.example_id[10:])] in in_train for each in read.test)
    assert 0 < again < len(read.test)
    assert read.notes["test_admissions_of_patients_in_train"] == again


def test_diabetes_is_250_00_among_admissions_with_a_frequent_code(tmp_path: Path) -> None:
    codes = {number: ["4019", "25000"] for number in range(100, 120)}
    codes |= {number: ["4019", "25001"] for number in range(120, 150)}
    codes |= {number: [f"V{number}"] for number in range(150, 160)}
    place = _mimic(tmp_path, codes)
    read = mimic(place, frequent=3)
    assert _labels(read) == {f"admission/{number}": int(number < 120) for number in range(100, 150)}
    assert (read.name, read.classes) == ("mimic-diabetes", ("no diabetes", "diabetes"))
    assert "one of the 3 most frequent" in read.notes["labels"]
    assert len(_all(mimic(place, frequent=13))) == 60


def test_the_published_lists_are_the_diabetes_splits_where_they_lie_next_to_the_tables(
    tmp_path: Path,
) -> None:
    place = _mimic(
        tmp_path, {number: ["25000" if number % 2 else "4019"] for number in range(100, 130)}
    )
    _lists(place, {"train": range(100, 110), "dev": [110, 111], "test": [112, 113, 999]})
    read = mimic(place)
    assert [each.example_id for each in read.test] == ["admission/112", "admission/113"]
    assert ([len(split) for split in (read.train, read.dev)], _labels(read)["admission/113"]) == (
        [10, 2],
        1,
    )
    assert read.notes["dropped"]["listed admissions without a diagnosis"] == 1
    assert len(_all(mimic(place, splits="seeded"))) == 30
    (place / "dev_50_hadm_ids.csv").write_text("112\n")
    with pytest.raises(
        InputError, match=r"test_50_hadm_ids.csv, line 1: admission 112 is in dev too"
    ):
        mimic(place)
    (place / "dev_50_hadm_ids.csv").unlink()
    with pytest.raises(InputError, match=r"but dev_50_hadm_ids.csv is not"):
        mimic(place)


def test_the_released_splits_need_the_lists(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"train_50_hadm_ids.csv.* are not in it"):
        mimic(_mimic(tmp_path, _anemia(40)), splits="released")


def test_addenda_follow_their_reports_by_date_whatever_the_order_of_the_file(
    tmp_path: Path,
) -> None:
    notes = [
        _note(100, "addendum two", description="Addendum", day="2101-03-09"),
        _note(100, "report two", day="2101-04-01"),
        _note(100, "addendum one", description="Addendum", day="2101-02-01"),
        _note(100, "addendum three", description="Addendum", day="2101-03-09"),
        _note(100, "withdrawn", error="1"),
        _note(100, "a nurse wrote this", category="Nursing"),
        _note("", "an outpatient"),
        _note(100, "report one", day="2101-03-01"),
    ]
    codes = _anemia(40)
    place = _mimic(
        tmp_path, codes, notes=notes + [_note(number) for number in codes if number != 100]
    )
    read = mimic(place, task="anemia", more_than=None)
    (found,) = (each for each in _all(read) if each.example_id == "admission/100")
    assert (
        " ".join(found.tokens) == "report one report two addendum one addendum two addendum three"
    )
    assert read.notes["dropped"]["notes marked as an error"] == 1
    assert read.notes["dropped"]["notes without an admission"] == 1


def test_deidentified_parts_are_one_word_and_marks_are_not_repeated() -> None:
    text = 'Mr. [**Known\nlastname 1**] [**2101-1-1**] -- ----\nsays: "no"" !! ! ok?! a_ _ [** open'
    assert words(text, str.split) == [
        "Mr.",
        "<DE>",
        "<DE>",
        "-",
        "says:",
        '"no"',
        "!",
        "ok?!",
        "a_",
        "[*",
        "open",
    ]


def test_a_note_is_cleaned_and_keeps_its_lines_and_quotes(tmp_path: Path) -> None:
    text = 'Admission Date:  [**2101-10-20**]\n\nHe said ""No"", 12 times,\r\nand <de> left...'
    codes = _anemia(40)
    place = _mimic(tmp_path, codes, notes=[_note(number, text) for number in codes])
    read = mimic(place, task="anemia", more_than=None, tokeniser="regex")
    assert (
        " ".join(read.train[0].tokens)
        == 'admission date : <DE> he said " no " , qqq times , and < de > left .'
    )


def test_cleaning_takes_linear_time() -> None:
    begin = time.process_time()
    for piece in ("[** ", "- ", "*", "[**a**]", "_ \n"):
        words(piece * 100_000, str.split)
    assert time.process_time() - begin < 5


def test_lengths_are_those_of_the_released_code(tmp_path: Path) -> None:
    lengths = (6, 7, 3999, 4000)
    codes = {
        number: ["25000" if number % 2 else "4019", "2851" if number % 2 else "28521"]
        for number in range(100, 180)
    }
    place = _mimic(
        tmp_path,
        codes,
        notes=[_note(number, "word " * lengths[number // 2 % 4]) for number in codes],
    )
    assert {len(each.tokens) for each in _all(mimic(place))} == {7, 3999}
    anemia = mimic(place, task="anemia")
    assert {len(each.tokens) for each in _all(anemia)} == {
        7,
        3999,
    }  # the shortest of each split are dropped
    whole = mimic(place, task="anemia", more_than=None)
    assert {len(each.tokens) for each in _all(whole)} == {6, 7, 3999}
    assert (
        sum(count for name, count in whole.notes["dropped"].items() if name.endswith("long")) == 20
    )
    assert {len(each.tokens) for each in _all(mimic(place, more_than=7, fewer_than=None))} == {
        3999,
        4000,
    }


def test_compressed_tables_and_the_whole_archive_give_the_same(tmp_path: Path) -> None:
    codes = _anemia(40)
    plain = _mimic(tmp_path / "plain", codes)
    packed = tmp_path / "packed"
    packed.mkdir()
    with zipfile.ZipFile(tmp_path / "mimic-iii-clinical-database-1.4.zip", "w") as archive:
        for table in (
            "NOTEEVENTS.csv",
            "DIAGNOSES_ICD.csv",
        ):  # the notes first: the order must not matter
            data = gzip.compress((plain / table).read_bytes())
            (packed / f"{table}.gz").write_bytes(data)
            archive.writestr(f"mimic-iii-clinical-database-1.4/{table}.gz", data)
    read = mimic(plain, task="anemia")
    assert len(_all(read)) == 40 - _short(read)
    assert read.train
    for place in (packed, tmp_path / "mimic-iii-clinical-database-1.4.zip"):
        assert mimic(place, task="anemia") == read
    (plain / "NOTEEVENTS.csv.gz").write_bytes((packed / "NOTEEVENTS.csv.gz").read_bytes())
    assert mimic(plain, task="anemia") == read  # not every text twice


def test_mimic_is_found_by_name_and_its_absence_names_the_steps(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"credentialed user.*data use agreement"):
        load("mimic", data_dir=tmp_path)
    place = _mimic(tmp_path / "mimic", _anemia(40))
    assert load("mimic:task=anemia", data_dir=tmp_path).train == mimic(place, task="anemia").train
    assert (
        load("mimic:task=anemia", data_dir=place, cache=False).train
        == mimic(place, task="anemia").train
    )


@pytest.mark.parametrize(
    ("table", "column"),
    [("NOTEEVENTS.csv", "TEXT"), ("NOTEEVENTS.csv", "ISERROR"), ("DIAGNOSES_ICD.csv", "ICD9_CODE")],
)
def test_a_missing_column_is_named(tmp_path: Path, table: str, column: str) -> None:
    place = _mimic(tmp_path, _anemia(40))
    path = place / table
    path.write_text(path.read_text().replace(f'"{column}"', '"OTHER"'))
    with pytest.raises(
        InputError, match=rf"{table}, line 1: the header needs one column '{column}'"
    ):
        mimic(place, task="anemia")


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    place = _mimic(tmp_path, _anemia(40))
    (place / "NOTEEVENTS.csv").unlink()
    with pytest.raises(InputError, match=r"NOTEEVENTS.csv is not in it"):
        mimic(place, task="anemia")


@pytest.mark.parametrize(
    ("note", "message"),
    [
        ({"HADM_ID": "12x"}, "expected a whole number as HADM_ID, got '12x'"),
        ({"CHARTDATE": "yesterday", "HADM_ID": "100"}, "expected a CHARTDATE such as"),
    ],
)
def test_a_bad_note_is_named_or_skipped_and_counted(
    tmp_path: Path, note: dict[str, str], message: str
) -> None:
    codes = _anemia(40)
    place = _mimic(tmp_path, codes, notes=[*map(_note, codes), {**_note(100), **note}])
    with pytest.raises(InputError, match=rf"NOTEEVENTS.csv, line \d+: {message}"):
        mimic(place, task="anemia")
    skipped = mimic(place, task="anemia", skip_bad=True).notes["skipped"]
    assert (skipped["rows"], message in skipped["first"][0]) == (1, True)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('9,9,"",1,"2851"', "expected a whole number as HADM_ID"),
        ('9,9,900,1,"285.1"', "expected an ICD9_CODE without a point"),
        ("9,9,900,1", "expected 5 columns"),
    ],
)
def test_a_bad_diagnosis_is_named_or_skipped_and_counted(
    tmp_path: Path, row: str, message: str
) -> None:
    place = _mimic(tmp_path, _anemia(40))
    with (place / "DIAGNOSES_ICD.csv").open("a") as table:
        table.write(f'{row}\n8,8,100,,""\n')
    with pytest.raises(InputError, match=rf"DIAGNOSES_ICD.csv, line 42: {message}"):
        mimic(place, task="anemia")
    notes = mimic(place, task="anemia", skip_bad=True).notes
    assert (notes["skipped"]["rows"], notes["dropped"]["diagnoses without a code"]) == (1, 1)


def test_one_class_and_no_class_are_rejected(tmp_path: Path) -> None:
    one = _mimic(tmp_path / "one", {number: ["2851"] for number in range(100, 140)})
    with pytest.raises(InputError, match="training labels are the same"):
        mimic(one, task="anemia", more_than=None)
    none = _mimic(tmp_path / "none", {number: ["4019"] for number in range(100, 140)})
    with pytest.raises(InputError, match="no discharge summary of the 0 admissions for anemia"):
        mimic(none, task="anemia")


def test_an_admission_without_a_summary_or_with_an_empty_one_is_counted(tmp_path: Path) -> None:
    codes = _anemia(40)
    place = _mimic(
        tmp_path,
        codes,
        notes=[_note(100, " \n"), *(_note(number) for number in codes if number > 101)],
    )
    read = mimic(place, task="anemia", more_than=None)
    assert len(_all(read)) == 38
    assert read.notes["dropped"]["admissions without a discharge summary"] == 1
    assert read.notes["dropped"]["empty"] == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"task": "flu"},
        {"positive": "yes"},
        {"splits": "mine"},
        {"frequent": 0},
        {"more_than": "few"},
        {"min_count": True},
    ],
)
def test_wrong_options_of_mimic_are_reported_before_reading(
    tmp_path: Path, wrong: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        mimic(tmp_path / "nowhere", **wrong)


def test_notes_are_streamed_and_unwanted_ones_are_not_kept(tmp_path: Path) -> None:
    """Of twelve megabytes of notes that are not needed, only a small part is ever in memory."""
    others = [_note(200 + number, "word " * 4_000) for number in range(300)]
    others += [_note(100, "word " * 4_000, category="Radiology") for _ in range(300)]
    place = _mimic(
        tmp_path,
        {100: ["2851"]},
        notes=[_note(100, "first"), *others, _note(100, "second"), _note("x", "")],
    )
    assert (place / "NOTEEVENTS.csv").stat().st_size > 12_000_000
    del others
    notes = discharge_notes(place, {100}, Preparation("mimic", tokeniser="regex"))
    tracemalloc.start()
    try:
        assert [next(notes).text, next(notes).text] == ["first", "second"]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000
    with pytest.raises(
        InputError, match="HADM_ID"
    ):  # the last row was not looked at before it was asked for
        next(notes)


def _anemia(count: int) -> dict[int, list[str]]:
    return {number: ["2851" if number % 2 else "28521"] for number in range(100, 100 + count)}


def _note(
    admission: int | str,
    text: str | None = None,
    *,
    description: str = "Report",
    day: str = "2101-01-01",
    category: str = "Discharge summary",
    error: str = "",
) -> dict[str, str]:
    return {
        "ROW_ID": "1",
        "SUBJECT_ID": "7",
        "HADM_ID": str(admission),
        "CHARTDATE": day,
        "CHARTTIME": "",
        "STORETIME": "",
        "CATEGORY": category,
        "DESCRIPTION": description,
        "CGID": "",
        "ISERROR": error,
        "TEXT": _text(admission) if text is None else text,
    }


def _text(admission: int | str) -> str:
    """Of two lengths, so that the shortest are not all."""
    soon = " soon" * (int(str(admission) or 0) % 3 > 0)
    return f"The patient of admission {admission}\ncame in and{soon} went out."


def _mimic(
    folder: Path,
    codes: dict[int, list[str]],
    *,
    notes: Sequence[dict[str, str]] | None = None,
    patients: dict[int, int] | None = None,
) -> Path:
    """The two tables as PhysioNet ships them: header and text in quotes, numbers bare."""
    folder.mkdir(exist_ok=True)
    made = [_note(number) for number in codes] if notes is None else notes
    written = io.StringIO()
    table = csv.DictWriter(written, list(_note(0)), quoting=csv.QUOTE_ALL, lineterminator="\n")
    table.writeheader()
    table.writerows(made)
    (folder / "NOTEEVENTS.csv").write_text(written.getvalue(), newline="")
    rows = [
        f'{at},{(patients or {}).get(number, number)},{number},{at + 1},"{code}"\n'
        for number, of_stay in codes.items()
        for at, code in enumerate(of_stay)
    ]
    header = '"ROW_ID","SUBJECT_ID","HADM_ID","SEQ_NUM","ICD9_CODE"\n'
    (folder / "DIAGNOSES_ICD.csv").write_text(header + "".join(rows))
    return folder


def _lists(folder: Path, lists: dict[str, Sequence[int]]) -> None:
    for split, numbers in lists.items():
        (folder / f"{split}_50_hadm_ids.csv").write_text(
            "".join(f"{number}\n" for number in numbers)
        )


def _all(read: Splits) -> list[Example]:
    return [*read.train, *read.dev, *read.test]


def _labels(read: Splits) -> dict[str, int | None]:
    return {each.example_id: each.label for each in _all(read)}


def _short(read: Splits) -> int:
    return sum(count for name, count in read.notes["dropped"].items() if name.endswith("short"))
