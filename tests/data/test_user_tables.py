"""The user's own data: files of every kind, frames, Hugging Face datasets, and errors."""

from __future__ import annotations

import csv
import gzip
import inspect
import json
import lzma
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnaudit.core.errors import InputError
from attnaudit.data import DATASETS, load, user_tables
from attnaudit.data.reading.splitting import divide_together
from attnaudit.data.reading.tables import endings
from attnaudit.data.splits import Example, Splits
from attnaudit.data.text_file import file_choice, text_file
from attnaudit.data.user_tables import from_dataset, from_frame

Rows = list[dict[str, Any]]
ROWS: Rows = [
    {"text": f"Film {name} was {'so' if label else 'not'} good, really", "label": label}
    for name in "abcdefghijklmnopqrst"
    for label in (1, 0)
]


def _csv(path: Path, rows: Rows, delimiter: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def _jsonl(path: Path, rows: Rows) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def _everything(splits: Splits) -> dict[str, Example]:
    return {each.example_id: each for each in (*splits.train, *splits.dev, *splits.test)}


def _sizes(splits: Splits) -> tuple[int, int, int]:
    return len(splits.train), len(splits.dev), len(splits.test)


# files --------------------------------------------------------------------------------------------


def test_every_kind_of_file_gives_the_same(tmp_path: Path) -> None:
    plain = _csv(tmp_path / "a.csv", ROWS)
    made = load(str(plain))
    assert _sizes(made) == (32, 4, 4)
    assert made.name == "a.csv"
    assert made.classes == ("0", "1")
    assert _everything(made)["row/1"].tokens == ("film", "a", "was", "not", "good", ",", "really")
    assert [_everything(made)[f"row/{number}"].label for number in range(4)] == [1, 0, 1, 0]
    others = [_csv(tmp_path / "b.tsv", ROWS, "\t"), _jsonl(tmp_path / "c.jsonl", ROWS)]
    for name, packed in {"d.csv.gz": gzip.compress, "e.csv.xz": lzma.compress}.items():
        (tmp_path / name).write_bytes(packed(plain.read_bytes()))
        others.append(tmp_path / name)
    pd.DataFrame(ROWS).to_parquet(tmp_path / "f.parquet", row_group_size=7)
    for other in (*others, tmp_path / "f.parquet"):
        again = load(str(other))
        assert (again.train, again.dev, again.test) == (made.train, made.dev, made.test), other
        assert again.classes == made.classes


def test_dev_and_test_are_seeded_stratified_tenths(tmp_path: Path) -> None:
    path = _csv(tmp_path / "a.csv", ROWS)
    made = load(str(path))
    assert [Counter(each.label for each in part) for part in (made.dev, made.test)] == [
        {0: 2, 1: 2}
    ] * 2
    assert made.notes["rule"].startswith("dev and test: a tenth")
    assert load(str(path), seed=0).test == made.test
    assert load(str(path), seed=1).test != made.test
    assert load(f"{path}:seed=1").test == load(str(path), seed=1).test


def test_columns_may_be_named_and_those_that_are_inferred_are_noted(
    tmp_path: Path,
) -> None:
    rows = [
        {"id": n, "Review": row["text"], "words": "x y", "stars": row["label"]}
        for n, row in enumerate(ROWS)
    ]
    path = _csv(tmp_path / "a.csv", rows)
    assert load(str(path)).notes["columns"] == {"text": "Review", "label": "stars"}
    assert load(f"text_file:path={path}").train == load(str(path)).train
    assert load(f"{path}:text=Review").train[0].tokens[:2] == ("film", "a")
    with pytest.raises(
        InputError,
        match=r"^a.csv: text=nothing, but it has no such column. "
        r"Its columns: 'id', 'Review', 'words', 'stars'",
    ):
        load(f"{path}:text=nothing")


def test_numbers_may_name_columns(tmp_path: Path) -> None:
    path = _csv(tmp_path / "a.csv", [{"0": row["label"], "1": row["text"]} for row in ROWS])
    assert load(f"{path}:text=1,label=0").notes["columns"] == {"text": "1", "label": "0"}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            ("review", "content", "label"),
            "'review', 'content' could each be the text. Name the one with text=COLUMN. "
            "Its columns: 'rev",
        ),
        (("text", "stars", "Class"), "'stars', 'Class' could each be the label"),
        (
            ("words", "label"),
            "no column is called text, review, .* Name it with text=COLUMN. "
            "Its columns: 'words', 'label'",
        ),
        (("text", "number"), "no column is called label"),
        (("text", "text", "label"), "'text', 'text' could each be the text"),
    ],
)
def test_columns_that_cannot_be_inferred_must_be_named(
    tmp_path: Path, names: tuple[str, ...], message: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{','.join(names)}\n{','.join('1' * len(names))}\n")
    with pytest.raises(InputError, match=message):
        load(str(path))


def test_the_usual_name_wins_over_others(tmp_path: Path) -> None:
    path = _csv(tmp_path / "a.csv", [{"review": "x", **row, "stars": 5} for row in ROWS])
    assert load(str(path)).notes["columns"] == {"text": "text", "label": "label"}


def test_a_column_may_be_left_out(tmp_path: Path) -> None:
    path = _csv(tmp_path / "a.csv", [{**row, "query": "was it good"} for row in ROWS])
    assert load(str(path)).train[0].query == ("was", "it", "good")
    assert load(f"{path}:query=").train[0].query is None


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ((10, 9), ("9", "10")),
        (("b", "a"), ("a", "b")),
        (("10", "9"), ("9", "10")),
        ((" 1", "01"), None),
        ((5.0, 4.0), ("4", "5")),
        ((True, False), ("false", "true")),
        (("x", 2), ("2", "x")),
    ],
)
def test_classes_are_in_order(
    tmp_path: Path, labels: tuple[Any, Any], classes: tuple[str, str] | None
) -> None:
    path = _jsonl(tmp_path / "a.jsonl", [{**row, "label": labels[row["label"]]} for row in ROWS])
    if classes is None:
        with pytest.raises(InputError, match=r"at least two classes, got \['1'\] in 40 rows"):
            load(str(path))
        return
    made = load(str(path))
    assert made.classes == classes
    expected = classes.index(str(labels[1]).lower().removesuffix(".0"))
    assert _everything(made)["row/0"].label == expected
    assert _everything(made)["row/1"].label == 1 - expected


@pytest.mark.parametrize("skip", ["", ":skip_bad=true"])
def test_labels_of_a_regression_are_rejected_even_where_bad_rows_are_skipped(
    tmp_path: Path, skip: str
) -> None:
    path = _csv(tmp_path / "a.csv", [{**ROWS[0], "label": label} for label in ("1", "3.7", "2")])
    with pytest.raises(
        InputError,
        match=r"a.csv, line 3: the label '3.7' is a number with a fraction: "
        r"this looks like regression",
    ):
        load(f"{path}{skip}")
    many = _csv(tmp_path / "b.csv", [{"text": "a", "label": number} for number in range(60)])
    with pytest.raises(
        InputError, match=r"b.csv, line 52: more than 50 different labels \(0, 1, 2, 3, 4, …\)"
    ):
        load(f"{many}{skip}")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": " ", "label": 1}, "the text is empty"),
        ({"text": None, "label": 1}, "the text is empty"),
        ({"label": 1}, "the text is empty"),
        ({"text": ["a", "b"], "label": 1}, "the text in column 'text' must be text, got list"),
        ({"text": 3, "label": 1}, "the text in column 'text' must be text, got int"),
        ({"text": "a"}, "the label is missing"),
        ({"text": "a", "label": ""}, "the label is missing"),
        ({"text": "a", "label": [1]}, "the label must be a word or a whole number, got list"),
    ],
)
def test_bad_rows_are_reported_by_line_or_skipped_and_counted(
    tmp_path: Path, row: dict[str, Any], message: str
) -> None:
    path = _jsonl(tmp_path / "a.jsonl", [*ROWS, row])
    with pytest.raises(InputError, match=f"a.jsonl, line 41: {message}"):
        load(str(path))
    made = load(f"{path}:skip_bad=true")
    assert sum(_sizes(made)) == 40
    assert made.notes["skipped"]["rows"] == 1


def test_too_few_examples_are_reported(tmp_path: Path) -> None:
    path = _csv(tmp_path / "a.csv", ROWS[:18])
    with pytest.raises(
        InputError, match=r"18 different texts are too few .* 2 classes need at least 20"
    ):
        load(str(path))
    rare = _csv(tmp_path / "b.csv", [*ROWS, *({"text": f"meh {n}", "label": 7} for n in "abc")])
    with pytest.raises(
        InputError, match="the class '7' has 3 different texts in train, at least 4 are needed"
    ):
        load(str(rare))
    header = tmp_path / "c.csv"
    header.write_text("text,label\n")
    with pytest.raises(InputError, match=r"at least two classes, got \[\] in 0 rows"):
        load(str(header))
    header.write_text("")
    with pytest.raises(InputError, match=r"c.csv: the file is empty"):
        load(str(header))


def test_delimiters_and_quotation_marks(tmp_path: Path) -> None:
    made = load(f"{_csv(tmp_path / 'a.csv', ROWS, ';')}:delimiter=;")
    assert sum(_sizes(made)) == 40
    path = tmp_path / "b.tsv"
    path.write_text("text\tlabel\n" + "".join(f'"film {n} said\t{n % 2}\n' for n in range(40)))
    assert sum(_sizes(load(f"{path}:quoted=false,replace_numbers=false"))) == 40
    with pytest.raises(InputError, match=r"b.tsv, line "):
        load(str(path))
    with pytest.raises(InputError, match="delimiter must be one character, got 'ab'"):
        load(f"{path}:delimiter=ab")


# splits -------------------------------------------------------------------------------------------


def test_a_split_column_decides_and_what_is_missing_is_taken_from_train(tmp_path: Path) -> None:
    names = ["train"] * 34 + ["Validation", "val", "dev"] + ["test"] * 3
    path = _csv(
        tmp_path / "a.csv", [{**row, "split": name} for row, name in zip(ROWS, names, strict=True)]
    )
    made = load(str(path))
    assert _sizes(made) == (34, 3, 3)
    assert made.notes["rule"] == "as given"
    assert [each.example_id for each in made.test] == ["test/37", "test/38", "test/39"]
    names[34:37] = ["train"] * 3
    path = _csv(
        tmp_path / "b.csv", [{**row, "split": name} for row, name in zip(ROWS, names, strict=True)]
    )
    assert _sizes(load(str(path))) == (33, 4, 3)
    assert load(str(path)).notes["rule"].startswith("dev: a tenth of the training texts")
    names[3] = "trial"
    path = _csv(
        tmp_path / "c.csv", [{**row, "split": name} for row, name in zip(ROWS, names, strict=True)]
    )
    with pytest.raises(
        InputError, match=r"c.csv, line 5: the split must be one of train, .* got 'trial'"
    ):
        load(str(path))


def test_further_files_are_dev_and_test(tmp_path: Path) -> None:
    first, second = (
        _csv(tmp_path / "a.csv", ROWS[:30]),
        _jsonl(
            tmp_path / "b.jsonl",
            [{"review": row["text"], "class": row["label"]} for row in ROWS[30:]],
        ),
    )
    made = load(f"{first}:test={second}")
    assert _sizes(made) == (27, 3, 10)
    assert [each.example_id for each in made.test] == [f"test/{n}" for n in range(10)]
    assert made.notes["columns"]["test"] == {"text": "review", "label": "class"}
    with pytest.raises(InputError, match=r"The file 'none.csv' does not exist"):
        load(f"{first}:dev=none.csv")
    with pytest.raises(InputError, match="text_file: path must be the path of a file, got None"):
        load(f"text_file:test={second}")


def test_identical_texts_stay_in_one_split() -> None:
    examples = [Example(str(n), (f"word{n % 50}",), label=n % 2) for n in range(150)]
    for seed in range(5):
        rest, part = divide_together(examples, 0.1, seed=seed)
        assert len(part) == 15
        assert len({each.tokens for each in part}) == 5
        assert not {each.tokens for each in part} & {each.tokens for each in rest}
        assert sorted((*rest, *part), key=lambda each: int(each.example_id)) == examples


def test_the_same_text_with_another_query_is_another() -> None:
    examples = [Example(str(n), ("word",), label=n % 2, query=(f"q{n}",)) for n in range(40)]
    assert len(divide_together(examples, 0.1, seed=0)[1]) == 4


# evidence -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("evidence", "marked"),
    [
        ('["SO good"]', (3, 4)),
        ('["so  good", "film"]', (0, 3, 4)),
        ("so good", (3, 4)),
        ("[[0, 4], [11, 13]]", (0, 3)),
        ('["really", "film"]', (0, 6)),
        ("[]", ()),
        ("", ()),
    ],
)
def test_evidence_is_phrases_or_places(
    tmp_path: Path, evidence: str, marked: tuple[int, ...]
) -> None:
    path = _csv(
        tmp_path / "a.csv",
        [{**row, "evidence": evidence if n == 0 else "[]"} for n, row in enumerate(ROWS)],
    )
    example = _everything(load(f"{path}:tokeniser=regex"))["row/0"]
    assert example.tokens == ("film", "a", "was", "so", "good", ",", "really")
    assert tuple(at for at, true in enumerate(example.evidence or ()) if true) == marked
    assert len(example.evidence or ()) == 7


def test_a_phrase_is_whole_words_wherever_it_stands() -> None:
    frame = pd.DataFrame(ROWS)
    frame["why"] = [["a"]] * len(frame)
    frame["text"] = frame["text"] + " a party, mama (a)"
    example = _everything(from_frame(frame, evidence="why", tokeniser="regex"))["row/2"]
    marked = [
        token for token, true in zip(example.tokens, example.evidence or (), strict=True) if true
    ]
    assert marked == ["a", "a"]
    assert example.tokens[-6:] == ("party", ",", "mama", "(", "a", ")")


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        ('["bad"]', "the evidence 'bad' is not in the text 'Film a was so good, really'"),
        ('["oo"]', "the evidence 'oo' is not in the text"),
        ("[[0, 99]]", "evidence from character 0 to 99, but the text has 26"),
        ("[[4, 4]]", "evidence from character 4 to 4"),
        ("[1, 2]", "evidence must be a list of phrases .* got '1'"),
        ('[""]', "evidence must be a list of phrases"),
        ("[true", "the evidence is not JSON"),
        ("[" * 20000, "the evidence is not JSON"),
    ],
)
def test_evidence_that_is_not_in_the_text_is_rejected_by_line(
    tmp_path: Path, evidence: str, message: str
) -> None:
    path = _csv(tmp_path / "a.csv", [{**row, "evidence": evidence} for row in ROWS])
    with pytest.raises(InputError, match=f"a.csv, line 2: {message}"):
        load(str(path))


# parquet ------------------------------------------------------------------------------------------


def test_parquet_rows_are_reported_by_number_and_damage_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pd.DataFrame([*ROWS, {"text": None, "label": 1}]).to_parquet(path)
    with pytest.raises(InputError, match=r"a.parquet, row 41: the text is empty"):
        load(str(path))
    whole = path.read_bytes()
    for damaged in (b"", b"PAR1", whole[:-20], whole[:4] + bytes(300) + whole[304:]):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"a.parquet"):
            load(str(path))


def test_a_row_group_out_of_all_proportion_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    pd.DataFrame({"text": ["word " * 100_000] * 10, "label": [0, 1] * 5}).to_parquet(
        path, compression="zstd"
    )
    monkeypatch.setattr("attnaudit.data.reading.tables.BOMB_SIZE", 1000)
    monkeypatch.setattr("attnaudit.data.reading.tables.BOMB_RATIO", 2)
    with pytest.raises(
        InputError, match=r"a row group of .* bytes, over 2 times the size of the file"
    ):
        load(str(path))


# paths as choices ---------------------------------------------------------------------------------


def test_a_path_may_have_colons_and_commas_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "a=b,c:d.csv:e"
    folder.mkdir()
    path = _csv(
        folder / "my,data:x.csv", [{"words": row["text"], "label": row["label"]} for row in ROWS]
    )
    assert sum(_sizes(load(f"{path}:text=words"))) == 40


def test_names_of_datasets_go_before_files_and_functions_before_what_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "keyword").write_text("x")
    assert file_choice("keyword", DATASETS) is None
    assert file_choice("keyword:train=3", DATASETS) is None
    assert file_choice("text_file:path=a.csv", DATASETS) is None
    assert file_choice("own.module:reader:path=a.csv", DATASETS) is None
    assert file_choice("a.csv:label=b.csv", DATASETS) == (
        "text_file",
        {"path": "a.csv", "label": "b.csv"},
    )
    assert file_choice("C:\\data\\a.TSV.gz:seed=3", DATASETS) == (
        "text_file",
        {"path": "C:\\data\\a.TSV.gz", "seed": 3},
    )
    assert file_choice("nothing", DATASETS) is None
    assert file_choice("a.csvs", DATASETS) is None
    assert file_choice("x" * 5000, DATASETS) is None
    (tmp_path / "reviews.txt").write_text("x")
    with pytest.raises(
        InputError, match=r"cannot tell what kind of file this is. Its name must end in .csv"
    ):
        load("reviews.txt")
    with pytest.raises(
        InputError, match=r"The file 'none.csv' does not exist. Looked for it from the folder"
    ):
        load("none.csv")
    with pytest.raises(InputError, match="The dataset 'text_file' has no option 'colour'"):
        load("none.csv:colour=red")


def test_endings() -> None:
    assert endings("a.csv.gz") == [8]
    assert endings("a.csv:b.tsv") == [5, 11]
    assert endings("a.parquet.gz") == []
    assert endings("a.txt") == []


# objects in memory --------------------------------------------------------------------------------


def test_a_frame_gives_what_its_file_gives(tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS, index=range(100, 140))
    made, read = from_frame(frame, name="mine"), load(str(_csv(tmp_path / "a.csv", ROWS)))
    assert (made.train, made.dev, made.test, made.classes) == (
        read.train,
        read.dev,
        read.test,
        read.classes,
    )
    assert made.name == "mine"
    assert made.notes["columns"] == {"text": "text", "label": "label"}


def test_what_pandas_has_for_missing_values_is_missing() -> None:
    frame = pd.DataFrame(ROWS)
    for missing in (None, np.nan, pd.NA, pd.NaT):
        for column in ("text", "label"):
            holey = frame.astype(object).copy()
            holey.loc[3, column] = missing
            with pytest.raises(
                InputError, match=r"frame, row 3: the (text is empty|label is missing)"
            ):
                from_frame(holey)
    floats = frame.assign(label=frame["label"].astype(float))
    assert from_frame(floats).classes == ("0", "1")
    assert from_frame(
        frame.assign(label=frame["label"].map({0: "no", 1: "yes"}).astype("category"))
    ).classes == ("no", "yes")


def test_a_frame_with_numpy_values() -> None:
    frame = pd.DataFrame(ROWS)
    frame["label"] = pd.Series([np.bool_(each) for each in frame["label"]], dtype=object)
    frame["evidence"] = pd.Series([np.array([[0, 4]])] * 40, dtype=object)
    made = from_frame(frame)
    assert made.classes == ("false", "true")
    assert made.train[0].evidence == (True,) + (False,) * 6


@pytest.mark.parametrize("what", [3, "a.csv", ROWS, None])
def test_what_is_no_frame_or_dataset_is_rejected(what: Any) -> None:
    with pytest.raises(InputError, match="from_frame needs a pandas DataFrame"):
        from_frame(what)
    with pytest.raises(InputError, match="from_dataset needs a Hugging Face Dataset"):
        from_dataset(what)


def test_hugging_face_datasets() -> None:
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        {"sentence": datasets.Value("string"), "label": datasets.ClassLabel(names=["pos", "neg"])}
    )
    rows = [{"sentence": row["text"], "label": row["label"]} for row in ROWS]
    whole = datasets.Dataset.from_list(rows, features=features)
    made = from_dataset(whole)
    assert _sizes(made) == (32, 4, 4)
    assert made.classes == ("pos", "neg")  # its own order, not the alphabet's
    assert _everything(made)["row/0"].label == 1
    assert made.notes["columns"] == {"text": "sentence", "label": "label"}
    parts = {
        "train": whole.select(range(30)),
        "validation": whole.select(range(30, 35)),
        "test": whole.select(range(35, 40)),
    }
    split = from_dataset(datasets.DatasetDict({**parts, "unsupervised": whole}), name="hub")
    assert _sizes(split) == (30, 5, 5)
    assert split.notes["splits_left_out"] == ["unsupervised"]
    assert split.dev[0].example_id == "dev/0"
    with pytest.raises(InputError, match=r"there is no split 'train', got \['test'\]"):
        from_dataset(datasets.DatasetDict({"test": whole}))
    with pytest.raises(InputError, match="'val' is the second dev split"):
        from_dataset(datasets.DatasetDict({**parts, "val": whole}))
    unlabelled = datasets.Dataset.from_list(
        [*rows, {"sentence": "x", "label": -1}], features=features
    )
    with pytest.raises(InputError, match="dataset, row 40: the label -1 is none of the 2 classes"):
        from_dataset(unlabelled)
    plain = datasets.Dataset.from_list(ROWS)
    with pytest.raises(InputError, match="are not those of the other splits"):
        from_dataset(
            datasets.DatasetDict({"train": whole, "test": plain.rename_column("text", "sentence")})
        )


def test_the_library_of_datasets_is_not_needed() -> None:
    assert not re.search(
        r"^\s*(import|from) datasets\b", inspect.getsource(user_tables), re.MULTILINE
    )


# anything -----------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(
    content=st.binary(max_size=300)
    | st.text(max_size=300).map(lambda text: f"text,label\n{text}".encode("utf-8", "ignore")),
    ending=st.sampled_from(["csv", "tsv", "jsonl", "parquet", "csv.gz"]),
    skip=st.booleans(),
)
def test_any_bytes_are_read_or_rejected(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, ending: str, skip: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / f"any.{ending}"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"."):  # too few rows for any data, if nothing else
        text_file(path=str(path), skip_bad=skip, tokeniser="regex")
