"""Every reader on randomly damaged corpora: the result is a corpus or an InputError.

A new reader is one entry in CORPORA: how it is called, and a small whole corpus of it as files.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attnaudit.core.errors import InputError
from attnaudit.data import DATASETS
from attnaudit.data.audit_texts import read_texts
from attnaudit.data.corpus_info import about_of
from attnaudit.data.reading import parquet_cache
from attnaudit.data.splits import Splits

CASES = 2000
Files = dict[str, bytes]


@dataclass(frozen=True)
class Corpus:
    read: Callable[..., Splits]  # of its place and skip_bad
    files: Files


def _reader(name: str, **options: object) -> Callable[..., Splits]:
    return lambda place, **more: DATASETS[name](place, **options, **more)


def _own(file: str) -> Callable[..., Splits]:
    return lambda place, **more: DATASETS["text_file"](
        path=str(place / file), tokeniser="regex", **more
    )


# Small corpora in the official formats ------------------------------------------------------------

TEXT = "the film was told in a very plain but honest way and nobody slept until its end came"
WORDS = TEXT.split()


def _sentence(number: int, length: int = 9) -> str:
    name = "".join("abcdefghij"[int(digit)] for digit in str(number))  # a number would be "qqq"
    return " ".join([name, *(WORDS[(number * 5 + at * 3) % len(WORDS)] for at in range(length))])


def _sst() -> Files:
    return {
        f"{split}.txt": "".join(
            f"({label} (2 {split}) (2 (2 one) (2 (2 film) (2 (2 is) "
            f"(2 (2 -LRB-) (2 (2 so) ({label} n{number})))))))\n"
            for number, label in enumerate([0, 4, 1, 3, 2])
        ).encode()
        for split in ("train", "dev", "test")
    }


def _imdb() -> Files:
    return {
        f"{split}/{side}/{number}_{stars}.txt": _sentence(number + stars).encode()
        for split in ("train", "test")
        for side, stars in (("neg", 1), ("pos", 10))
        for number in range(3)
    }


def _newsgroups() -> Files:
    return {
        f"20news-bydate-{part}/rec.sport.{sport}/{100 + number}": (
            f"From: a@b.c\nSubject: no{number}\n\nIn article <1> x writes:\n> quoted\n"
            f"{_sentence(number)}\n\n--\nme\n"
        ).encode()
        for part in ("train", "test")
        for sport in ("baseball", "hockey")
        for number in range(3)
    }


def _zhang(classes: int, columns: int) -> Files:
    def row(number: int) -> str:
        texts = ",".join(f'"{_sentence(number + at)} ""so""\\n"' for at in range(columns))
        return f'"{number % classes + 1}",{texts}\n'

    return {
        "train.csv": "".join(map(row, range(3 * classes))).encode(),
        "test.csv": "".join(map(row, range(50, 50 + classes))).encode(),
    }


def _tweets() -> Files:
    rows = [
        f"{1000 + number}\t{number}\t{number % 2}\t{_sentence(number)}\n" for number in range(20)
    ]
    return {"tweets.txt": "".join([*rows, "77\t1\t0\tNot Available\n"]).encode()}


def _mimic() -> Files:
    head = '"ROW_ID","SUBJECT_ID","HADM_ID","SEQ_NUM","ICD9_CODE"\n'
    codes = "".join(
        f'{n},{n},{100 + n},1,"4019"\n' + (f'{n},{n},{100 + n},2,"25000"\n' if n % 2 else "")
        for n in range(14)
    )
    notes = (
        '"ROW_ID","SUBJECT_ID","HADM_ID","CHARTDATE","CATEGORY","DESCRIPTION","ISERROR","TEXT"\n'
    )
    notes += "".join(
        f'{n},{n},{100 + n},"2151-08-0{n % 9 + 1}","Discharge summary","Report","",'
        f'"Seen [**Name 1**]\n{_sentence(n)}"\n'
        for n in range(14)
    )
    return {"DIAGNOSES_ICD.csv": (head + codes).encode(), "NOTEEVENTS.csv": notes.encode()}


def _babi() -> Files:
    def story(number: int) -> str:
        place = ("attic", "cellar")[number % 2]
        return (
            f"1 Ann went to the {place}.\n2 Ben took lamp{number} there.\n"
            f"3 Where is Ann? \t{place}\t1\n"
            f"4 Ann moved to the garden.\n5 Where is Ann? \tgarden\t4\n"
        )

    name = "en-10k/qa1_single-supporting-fact"
    return {
        f"{name}_train.txt": "".join(map(story, range(8))).encode(),
        f"{name}_test.txt": "".join(map(story, range(8, 11))).encode(),
    }


LABELS = ("neutral", "contradiction", "entailment", "-")


def _snli(kind: str) -> Files:
    files: Files = {}
    for at, split in enumerate(("train", "dev", "test")):
        rows = [
            {
                "gold_label": LABELS[n % 4],
                "sentence1": _sentence(n),
                "sentence2": _sentence(n + 1, 4),
                "pairID": f"{n}",
            }
            for n in range(10 * at, 10 * at + 8)
        ]
        lines = [json.dumps(row) for row in rows]
        if kind != "jsonl":
            lines = ["\t".join(row.values()) for row in rows]
            lines.insert(0, "\t".join(rows[0]))
        files[f"snli_1.0_{split}.{kind}"] = "".join(f"{line}\n" for line in lines).encode()
    return files


def _cnn() -> Files:
    return {
        f"questions/{folder}/{number:03d}.question": (
            f"http://x/{number}\n\n@entity{number} met @entity7 in @entity{number + 1} . "
            f"{_sentence(number)}\n\n"
            f"who met @placeholder ?\n\n@entity{7 if number % 2 else number}\n\n"
            f"@entity7:Ann\n@entity{number}:Ben\n"
        ).encode()
        for folder in ("training", "validation", "test")
        for number in range(3)
    }


def _eraser(query: bool) -> Files:
    files: Files = {}
    for at, split in enumerate(("train", "val", "test")):
        rows = []
        for number in range(4 * at, 4 * at + 4):
            words = _sentence(number).split()
            files[f"docs/d{number}.txt"] = (
                " ".join(words[:5]) + "\n" + " ".join(words[5:]) + "\n"
            ).encode()
            span = {
                "docid": f"d{number}.txt",
                "start_token": 2,
                "end_token": 4,
                "text": " ".join(words[2:4]),
            }
            row = {
                "annotation_id": f"d{number}.txt",
                "classification": ("NEG", "POS")[number % 2],
                "evidences": [[span]],
                "docids": None,
                "query": f"Is it no{number}?" if query else "What is it?",
            }
            rows.append(json.dumps(row))
        files[f"{split}.jsonl"] = "".join(f"{row}\n" for row in rows).encode()
    return files


def _reviews() -> Files:
    rows = [
        f'"{_sentence(n)}, ""so""<br />\nand on",{n % 2},{("rotten_tomatoes", "imdb")[n > 25]}\n'
        for n in range(30)
    ]
    return {"reviews.csv": ("text,label,source\n" + "".join(rows)).encode()}


def _rows() -> list[dict[str, str]]:
    return [
        {
            "text": _sentence(n),
            "label": ("bad", "good")[n % 2],
            "query": f"why {n}?",
            "evidence": json.dumps([[0, 3], [4, 8]] if n % 3 else [WORDS[(n * 5) % len(WORDS)]]),
        }
        for n in range(24)
    ]


def _separated(name: str, comma: str) -> Files:
    def quote(value: str) -> str:
        return '"' + value.replace('"', '""') + '"'

    lines = [comma.join(_rows()[0]), *(comma.join(map(quote, row.values())) for row in _rows())]
    return {name: "".join(f"{line}\n" for line in lines).encode()}


def _jsonl() -> Files:
    rows = [{**row, "evidence": json.loads(row["evidence"])} for row in _rows()]
    return {"own.jsonl": "".join(f"{json.dumps(row)}\n" for row in rows).encode()}


def _parquet() -> Files:
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(_rows()), stream)
    return {"own.parquet": stream.getvalue()}


REGEX = {"tokeniser": "regex"}
CORPORA = {
    "sst": Corpus(_reader("sst", min_length=1, drop_longest=False, **REGEX), _sst()),
    "imdb": Corpus(_reader("imdb", more_than=None, dev_share=0.4, test_share=1, **REGEX), _imdb()),
    "newsgroups": Corpus(
        _reader("newsgroups", more_than=None, split="bydate", dev_share=0.4, **REGEX), _newsgroups()
    ),
    "ag_news": Corpus(_reader("ag_news", classes="all", dev_share=0.4, **REGEX), _zhang(4, 2)),
    "yelp": Corpus(_reader("yelp", dev_share=0.4, sentences=True, **REGEX), _zhang(5, 1)),
    "amazon": Corpus(_reader("amazon", dev_share=0.4, **REGEX), _zhang(5, 2)),
    "yahoo": Corpus(_reader("yahoo", dev_share=0.4, **REGEX), _zhang(10, 3)),
    "adr_tweets": Corpus(_reader("adr_tweets", **REGEX), _tweets()),
    "mimic": Corpus(_reader("mimic", min_count=1, **REGEX), _mimic()),
    "babi_files": Corpus(_reader("babi_files"), _babi()),
    "snli": Corpus(_reader("snli", **REGEX), _snli("jsonl")),
    "snli, tsv": Corpus(_reader("snli", **REGEX), _snli("tsv")),
    "snli, txt": Corpus(_reader("snli", **REGEX), _snli("txt")),
    "cnn_qa": Corpus(_reader("cnn_qa", sentences=True), _cnn()),
    "movies": Corpus(_reader("movies"), _eraser(query=False)),
    "eraser": Corpus(_reader("eraser"), _eraser(query=True)),
    "movie_reviews": Corpus(
        lambda place, **more: DATASETS["movie_reviews"](place / "reviews.csv", **REGEX, **more),
        _reviews(),
    ),
    "text_file, csv": Corpus(_own("own.csv"), _separated("own.csv", ",")),
    "text_file, tsv": Corpus(_own("own.tsv"), _separated("own.tsv", "\t")),
    "text_file, jsonl": Corpus(_own("own.jsonl"), _jsonl()),
    "text_file, parquet": Corpus(_own("own.parquet"), _parquet()),
}

# Damage -------------------------------------------------------------------------------------------

# What has broken readers before: quotes, line ends, undecodable bytes, odd digits, long numbers.
BITES = [
    b'"',
    b"'",
    b"\n",
    b"\r",
    b"\n\n",
    b"\t",
    b",",
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\xc2\x85",
    b"\xe2\x80\xa8",
    b"\xc2\xb2",
    b"\xd9\xa3",
    b"9" * 5000,
    b"[" * 3000,
    b"-1",
    b"1e999",
    b"NaN",
    b"null",
    b"true",
    b"{}",
    b"[]",
    b"\\ud800",
    b"\\u0000",
    b"\\",
    b"(",
    b")",
    b"(4 ",
    b"@entity3",
    b"@placeholder",
    b" ",
    b"",
    b"x" * (1 << 20),
]
PLACE = st.floats(0, 1, exclude_max=True)
BITE = st.sampled_from(BITES) | st.binary(min_size=1, max_size=6)
Damage = tuple[str, float, float, bytes]
DAMAGE = st.tuples(
    st.sampled_from(
        ["flip", "insert", "overwrite", "cut", "drop", "double", "swap", "field", "empty", "rename"]
    ),
    PLACE,
    PLACE,
    BITE,
)
NAMES = [
    "5",
    "0_0.txt",
    "²_1.txt",
    "1_" + "9" * 200,
    "no name.txt",
    "train.txt",
    "caf\udce9.txt",
    "7_11.txt",
]


def _damaged(content: bytes, kind: str, first: float, second: float, bite: bytes) -> bytes:
    at = int(first * len(content))
    if kind == "flip":
        return (
            content[:at] + bytes([content[at] ^ (1 + int(second * 255))]) + content[at + 1 :]
            if content
            else b""
        )
    if kind == "insert":
        return content[:at] + bite + content[at:]
    if kind == "overwrite":
        return content[:at] + bite + content[at + len(bite) :]
    if kind == "cut":
        return content[:at]
    if kind == "empty":
        return b""
    lines = content.splitlines(keepends=True) or [b""]
    one, other = int(first * len(lines)), int(second * len(lines))
    if kind == "drop":
        del lines[one]
    elif kind == "double":
        lines.insert(other, lines[one])
    elif kind == "swap":
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == "field":  # taken out, or something else in its place
        comma = next((each for each in (b"\t", b",", b" ") if each in lines[one]), b" ")
        fields = lines[one].split(comma)
        fields[int(second * len(fields))] = bite
        lines[one] = comma.join(each for each in fields if each)
    return b"".join(lines)


@contextmanager
def _with_damage(place: Path, files: Files, which: float, damage: list[Damage]) -> Iterator[None]:
    """One of the files in place of the whole one; put back afterwards."""
    name = sorted(files)[int(which * len(files))]
    content, path, moved = files[name], place / name, place / name
    for kind, first, second, bite in damage:
        if kind == "rename":
            moved = path.with_name(NAMES[int(first * len(NAMES))])
        else:
            content = _damaged(content, kind, first, second, bite)
    path.unlink()
    there = moved.read_bytes() if moved.exists() else None
    moved.write_bytes(content)
    try:
        yield
    finally:
        moved.unlink()
        if there is not None:
            moved.write_bytes(there)
        path.write_bytes(files[name])


def _outcome(corpus: Corpus, place: Path, *, skip_bad: bool) -> Splits | InputError:
    try:
        return corpus.read(place, skip_bad=skip_bad)
    except InputError as error:
        return error


def _written(corpus: Corpus, place: Path) -> Path:
    for name, content in corpus.files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    return place


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {
        name: _written(corpus, tmp_path_factory.mktemp("corpus"))
        for name, corpus in CORPORA.items()
    }


@pytest.fixture(scope="module", autouse=True)
def _no_wait_for_the_disk() -> Iterator[None]:
    """What is written here is read at once, thousands of times, and need not survive a crash."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


def test_every_reader_of_files_is_here() -> None:
    of_files = {name for name, reader in DATASETS.items() if about_of(reader) is not None}
    assert of_files == {name.split(",")[0] for name in CORPORA}


@pytest.mark.parametrize("name", CORPORA)
def test_the_corpora_are_whole(name: str, places: dict[str, Path], tmp_path: Path) -> None:
    """The control: undamaged, each is read, and stored and read again it is the same."""
    made = CORPORA[name].read(places[name])
    assert all((made.train, made.dev, made.test))
    assert made.notes["skipped"] == {"rows": 0}
    parquet_cache.save(made, tmp_path / "kept")
    assert parquet_cache.load(tmp_path / "kept") == made


@pytest.mark.parametrize("name", CORPORA)
@settings(
    max_examples=-(-CASES // len(CORPORA)),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(which=PLACE, damage=st.lists(DAMAGE, min_size=1, max_size=3))
def test_a_damaged_corpus_is_read_or_rejected_with_an_input_error(
    name: str, places: dict[str, Path], which: float, damage: list[Damage]
) -> None:
    corpus, place = CORPORA[name], places[name]
    with _with_damage(place, corpus.files, which, damage):
        strict = _outcome(corpus, place, skip_bad=False)
        lenient = _outcome(corpus, place, skip_bad=True)
    for outcome in (strict, lenient):
        if not isinstance(outcome, Splits):
            assert str(outcome).encode()  # can be printed
            assert len(str(outcome)) < 2000
    if isinstance(lenient, Splits):  # strict is then the same, or an error
        parquet_cache.save(lenient, place.parent / "kept")
        assert parquet_cache.load(place.parent / "kept") == lenient
    if isinstance(strict, Splits):  # nothing to skip, so nothing is
        assert lenient == strict
        assert strict.notes["skipped"] == {"rows": 0}
    elif isinstance(lenient, Splits):  # what was rejected is now left out, and counted
        skipped = lenient.notes["skipped"]
        assert skipped["rows"] >= 1
        assert len(skipped["first"]) == min(5, skipped["rows"])


# Tables of users ----------------------------------------------------------------------------------

TABLES = int(os.environ.get("ATTNAUDIT_FUZZ_FILES", "500"))  # mutated files
SECONDS = 20  # no file may take longer
COLUMN_NAMES = [
    "text",
    "label",
    "review",
    "premise",
    "hypothesis",
    "sentence1",
    "sentence2",
    "question",
    "",
    " text ",
    "id",
    "TEXT",
    "stars",
    "x" * 300,
    "caf\u00e9",
    "a;b",
    "a,b",
    "split",
    "evidence",
    "0",
    "\u202etext",
    "\0",
]
VALUES = [
    "",
    " ",
    "good",
    "bad",
    "0",
    "1",
    "NaN",
    "one, two; three | four",
    'a "quoted" word',
    "two\nlines",
    "tab\there",
    "\u200b",
    "\ufeff",
    "\U0001f600",
    "=1+1",
    "9" * 400,
    "-1",
    "1e999",
    "x" * 2000,
    "word " * 500,
    "\0",
    "\r",
    "\u65e5\u672c\u8a9e",
]
ODD = [*VALUES, None, True, 3, -1, 0.5, 10**400, ["a"], {"a": 1}, [[0, 1]]]
ENCODINGS = [
    "utf-8",
    "utf-8-sig",
    "utf-16",
    "utf-16-le",
    "utf-32",
    "cp1252",
    "latin-1",
    "shift_jis",
    "utf-7",
]


def _random_table(random: Random) -> tuple[str, bytes]:
    """(name, content) of a data file with ordinary or odd columns, values, format and encoding."""
    usual = random.random() < 0.6
    names = ["text", "label"] if usual else random.choices(COLUMN_NAMES, k=random.randint(0, 5))
    count = random.choice([0, 1, 3, 30, 60])
    kind = random.choice(["csv", "csv", "tsv", "jsonl", "json", "parquet"])
    odd = 0.0 if random.random() < 0.4 else 0.2

    def value(name: str, number: int, pool: list[Any]) -> Any:
        if random.random() < odd:
            return random.choice(pool)
        return ("bad", "good")[number % 2] if name in ("label", "stars") else _sentence(number)

    pool = VALUES if kind in ("csv", "tsv") else ODD
    rows = [[value(name, number, pool) for name in names] for number in range(count)]
    encoding = random.choice(ENCODINGS) if random.random() < 0.3 else "utf-8"
    if kind == "parquet":
        return "d.parquet", _parquet_bytes(names, rows, random)
    if kind in ("jsonl", "json"):
        objects = [dict(zip(names, row, strict=True)) for row in rows]
        text = (
            json.dumps(objects, indent=random.choice([None, 1]))
            if kind == "json"
            else "".join(
                f"{json.dumps(each, ensure_ascii=random.random() < 0.5)}\n" for each in objects
            )
        )
    else:
        stream = io.StringIO()
        delimiter = random.choice([",", ";", "\t", "|"]) if kind == "csv" else "\t"
        ends = random.choice(["\n", "\r\n", "\r"])
        writer = csv.writer(stream, delimiter=delimiter, lineterminator=ends, escapechar="\\")
        writer.writerows([names, *rows])
        text = stream.getvalue()
    content = text.encode(encoding, "replace")
    if random.random() < 0.2:
        packed = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}
        ending = random.choice(list(packed))
        return f"d.{kind}.{ending}", packed[ending](content)
    return f"d.{kind}", content


def _parquet_bytes(names: list[str], rows: list[list[Any]], random: Random) -> bytes:
    columns = []
    for at in range(len(names)):
        values = [row[at] for row in rows]
        try:
            columns.append(pa.array(values))
        except (pa.ArrowException, OverflowError):
            columns.append(pa.array([None if each is None else str(each) for each in values]))
    stream = io.BytesIO()
    table = pa.Table.from_arrays(columns, names=names)
    pq.write_table(
        table, stream, compression=random.choice(["snappy", "none", "zstd"]), row_group_size=7
    )
    return stream.getvalue()


def _mutated(content: bytes, random: Random) -> bytes:
    kinds = ["flip", "insert", "overwrite", "cut", "drop", "double", "swap", "field", "empty"]
    for _ in range(random.choice([0, 0, 1, 1, 2, 5])):
        bite = random.choice(BITES)
        content = _damaged(content, random.choice(kinds), random.random(), random.random(), bite)
    return content


def _result(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except InputError as error:
        return error


@pytest.mark.parametrize("part", range(5))
def test_a_mutated_table_is_read_or_rejected_with_an_input_error(part: int, tmp_path: Path) -> None:
    """Any file, by the readers of `audit` and `run`; ATTNAUDIT_FUZZ_FILES sets how many."""
    outcomes: Counter[str] = Counter()
    for number in range(-(-TABLES // 5)):
        random = Random(f"table {part} {number}")
        name, content = _random_table(random)
        path = tmp_path / name
        path.write_bytes(_mutated(content, random))
        skip, encoding = random.random() < 0.5, random.choice([None, None, None, *ENCODINGS])
        encoding = None if name.endswith("parquet") else encoding
        readers: dict[str, Callable[[], Any]] = {
            "audit": lambda path=path, skip=skip, encoding=encoding: read_texts(
                path, skip_bad=skip, encoding=encoding
            ),
            "run": lambda path=path, skip=skip, encoding=encoding: DATASETS["text_file"](
                path=str(path), skip_bad=skip, encoding=encoding, tokeniser="regex"
            ),
        }
        for reader, read in readers.items():
            started = time.process_time()
            outcome = _result(read)
            outcomes[f"{reader}, {'rejected' if isinstance(outcome, InputError) else 'read'}"] += 1
            if isinstance(outcome, InputError):
                assert str(outcome).encode(), (part, number)
                assert len(str(outcome)) < 2000, (part, number)
            elif reader == "audit":
                assert outcome.summary.isprintable(), (part, number)
                assert str(tmp_path) not in json.dumps(outcome.bad.note()), (part, number)
            else:
                assert str(tmp_path) not in json.dumps(outcome.notes), (part, number)
            assert time.process_time() - started < SECONDS, (part, number)
        path.unlink()
    assert len(outcomes) == 4, outcomes  # some of each, or nothing would be tried
