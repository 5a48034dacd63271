"""What all readers share: rows, tokens, preprocessing, splitting and the cache."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache as once
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from attnaudit.core.errors import InputError
from attnaudit.data import DATASETS, load
from attnaudit.data.corpora.imdb import imdb
from attnaudit.data.corpus_info import About, describes
from attnaudit.data.reading import cache, parquet_cache
from attnaudit.data.reading.fingerprint import fingerprint
from attnaudit.data.reading.options import one_of, whole_number, yes_or_no
from attnaudit.data.reading.preprocessing import (
    Preparation,
    Text,
    repeated,
    require_parts,
    sentence_numbers,
    vocabulary_size,
)
from attnaudit.data.reading.rows import (
    LONGEST,
    BadRows,
    csv_rows,
    json_rows,
    lines,
    table_rows,
    whole_text,
)
from attnaudit.data.reading.sources import File
from attnaudit.data.reading.splitting import check_share, divide
from attnaudit.data.reading.tokenise import TOKENISERS, Tokeniser, find_tokeniser
from attnaudit.data.splits import Example, Splits


def _file(content: bytes) -> File:
    return File("f.txt", "f.txt", io.BytesIO(content))


def _lines(content: bytes, **more: Any) -> list[tuple[str, str]]:
    return list(lines(_file(content), BadRows(), **more))


def _skipping(rows: Callable[..., Any], content: bytes, **more: Any) -> tuple[list[Any], BadRows]:
    bad = BadRows(skip=True)
    return [row for _, row in rows(_file(content), bad, **more)], bad


# Lines --------------------------------------------------------------------------------------------


def test_lines_and_their_numbers() -> None:
    content = b"\xef\xbb\xbfone\r\n\n  \ntwo \xc3\xa9\0\nthree\r"
    assert _lines(content) == [
        ("f.txt, line 1", "one"),
        ("f.txt, line 4", "two é\0"),
        ("f.txt, line 5", "three"),
    ]
    assert _lines(b"caf\xe9\n", encoding="latin-1") == [("f.txt, line 1", "café")]
    assert _lines(b"") == []


def test_a_mark_of_the_byte_order_is_taken_off_a_whole_text_too() -> None:
    assert whole_text(_file(b"\xef\xbb\xbfone\ntwo")) == "one\ntwo"


@pytest.mark.parametrize("raw", [b"\xff", b"caf\xe9", b"\xed\xa0\x80", b"\xc3"], ids=repr)
def test_bytes_that_are_no_utf_8_are_reported_by_line_and_place(raw: bytes) -> None:
    with pytest.raises(InputError, match=r"f\.txt, line 3: not UTF-8 text \(.* at byte \d+\)"):
        _lines(b"one\n\n" + raw + b"\nfour\n")
    kept, bad = _skipping(lines, b"one\n\n" + raw + b"\nfour\n")
    assert (kept, bad.count) == (["one", "four"], 1)
    with pytest.raises(InputError, match=r"f\.txt: not UTF-8 text"):
        whole_text(_file(raw))


def test_how_long_a_line_may_be() -> None:
    longest, too_long = b"a" * (LONGEST - 1) + b"\n", b"b" * LONGEST + b"\n"
    assert [len(text) for _, text in _lines(longest * 2)] == [LONGEST - 1] * 2
    with pytest.raises(InputError, match=r"line 2: longer than 1,048,576 bytes"):
        _lines(longest + too_long)
    for tail in (b"end\n", b""):
        for long in (too_long, b"b" * (3 * LONGEST) + b"\n", b"b" * (2 * LONGEST + 1) + b"\n"):
            kept, bad = _skipping(lines, b"one\n" + long + tail)
            assert kept == (["one", "end"] if tail else ["one"])
            assert bad.count == 1
    assert len(whole_text(_file(b"a" * LONGEST))) == LONGEST
    with pytest.raises(InputError, match="longer than"):
        whole_text(_file(b"a" * (LONGEST + 1)))


LONG_LINE = """
import resource, sys
from pathlib import Path
from attnaudit.data.reading import rows
from attnaudit.data.reading.sources import files
bad = rows.BadRows(skip=True)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for file in files(Path(sys.argv[1])):
    kept = list(getattr(rows, sys.argv[2])(file, bad))
print(len(kept), bad.count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("kind", ["lines", "json_rows", "csv_rows"])
def test_a_line_of_hundred_megabytes_is_passed_over_in_little_memory(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "long.txt"
    with path.open("wb") as stream:
        stream.write(b'{"a": 1}\n')
        for _ in range(100):
            stream.write(b"x" * 1_000_000)
        stream.write(b'\n{"a": 1}\n')
    command = [sys.executable, "-c", LONG_LINE, str(path), kind]
    told = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    kept, skipped, grown = map(int, told.stdout.split())
    assert (kept, skipped) == (2, 1)
    assert grown < 30_000  # kilobytes


@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_line_of_ten_megabytes_is_reported(end: bytes) -> None:
    for rows in (lines, json_rows, csv_rows):
        with pytest.raises(InputError, match="line 1: longer than"):
            list(rows(_file(b"x" * 10_000_000 + end), BadRows()))


def test_only_the_first_messages_are_kept() -> None:
    _, bad = _skipping(json_rows, b"{\n" * 12)
    assert bad.note()["rows"] == 12
    assert [message[:13] for message in bad.note()["first"]] == [
        f"f.txt, line {n}" for n in range(1, 6)
    ]
    assert BadRows().note() == {"rows": 0}


def test_only_errors_of_input_are_skipped() -> None:
    with pytest.raises(KeyError), BadRows(skip=True):
        raise KeyError("a mistake of ours")


# JSON ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{", "not JSON"),
        (b'{"a": 1} {}', "not JSON"),
        (b'{"a": NaN}', r"not JSON \(NaN is not a number\)"),
        (b'{"a": [-Infinity]}', r"not JSON \(-Infinity is not a number\)"),
        (b"[" * 100_000, "not JSON"),
        (b'{"a":' * 100_000, "not JSON"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not JSON"),
        (b'{"a": "\x01"}', "not JSON"),
        (b'{"a": "\\ud800"}', "half of a surrogate pair"),
        (b'{"\\udfff": 1}', "half of a surrogate pair"),
        (b'{"a": [{"b": "x\\udc00"}]}', "half of a surrogate pair"),
        (b"[1]", "expected a JSON object"),
        (b"null", "expected a JSON object"),
        (b'"{}"', "expected a JSON object"),
        (b'{"a": "\xff"}', "not UTF-8"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_bad_json_is_reported_by_line(line: bytes, problem: str) -> None:
    content = b'{"a": 0}\n\n' + line + b'\n{"a": 3}\n'
    with pytest.raises(InputError, match=rf"^f\.txt, line 3: {problem}") as error:
        list(json_rows(_file(content), BadRows()))
    assert len(str(error.value)) < 400
    kept, bad = _skipping(json_rows, content)
    assert (kept, bad.count) == ([{"a": 0}, {"a": 3}], 1)


def test_good_json() -> None:
    row = {"a": "é \U0001f600 \\u0041 \u2028", "b": [1, None, True, 1.5], "c": {}}
    for ascii_only in (True, False):
        kept, bad = _skipping(json_rows, json.dumps(row, ensure_ascii=ascii_only).encode())
        assert (kept, bad.count) == ([row], 0)


@pytest.mark.parametrize("spare", range(0, 120, 7))
def test_json_as_deep_as_the_stack_is_read_or_reported(spare: int) -> None:
    depth = sys.getrecursionlimit() - spare
    content = b'{"\\u0061":' + b"[" * depth + b"]" * depth + b"}"
    kept, bad = _skipping(json_rows, content)
    assert len(kept) + bad.count == 1


# csv ----------------------------------------------------------------------------------------------


def _csv(content: bytes, **more: Any) -> list[tuple[str, list[str]]]:
    return list(csv_rows(_file(content), BadRows(), **more))


def test_csv_rows_and_the_lines_they_begin_on() -> None:
    content = b'\xef\xbb\xbf"a ""b""",1\r\n\r\n"two\nlines, ""quoted""",2\nlast,3'
    assert _csv(content, columns=2) == [
        ("f.txt, line 1", ['a "b"', "1"]),
        ("f.txt, line 3", ['two\nlines, "quoted"', "2"]),
        ("f.txt, line 5", ["last", "3"]),
    ]
    assert [row for _, row in _csv(b'a "b\tc"\n', delimiter="\t", quoted=False)] == [['a "b', 'c"']]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'a,b\n"c,d\n', r"line 2: not a csv row \(unexpected end of data\)"),
        (
            b'a,b\n"c,d\ne,f\ng,h\n',
            r"line 2: not a csv row \(unexpected end of data, read up to line 4\)",
        ),
        (b'a,b\n"c"d,e\n', r"line 2: not a csv row"),
        (b"a,b\nc\n", "line 2: expected 2 columns, got 1"),
        (b'a,b\n"c\nd",e,f\n', "line 2: expected 2 columns, got 3"),
        (b"a,b\nc,\xff\n", "line 2: not UTF-8"),
        (b'a,b\n"c\n\xff\n",d\n', "line 3: not UTF-8"),
        (b"a,b\nc\rd,e\n", "line 2: not a csv row"),
        (b'a,b\n"\xff\n', "line 2: not UTF-8"),
    ],
    ids=repr,
)
def test_bad_csv_is_reported_by_line(content: bytes, problem: str) -> None:
    with pytest.raises(InputError, match=rf"^f\.txt, {problem}"):
        _csv(content, columns=2)


def test_trouble_in_a_row_that_is_bad_anyway_costs_no_other_row() -> None:
    content = b'a,1\n"b\n\xff\n"x,2\nc,3\nd,4\n'
    kept, bad = _skipping(csv_rows, content, columns=2)
    assert kept == [["a", "1"], ["c", "3"], ["d", "4"]]
    assert bad.count == 1


def test_a_quotation_without_end_does_not_fill_the_memory() -> None:
    content = b'a,1\n"open,' + b"x,2\n" * 600_000
    kept, bad = _skipping(csv_rows, content, columns=2)
    assert bad.count == 1
    assert bad.messages[0].startswith("f.txt, line 2: not a csv row")
    assert "read up to line " in bad.messages[0]
    assert len(kept) > 300_000  # goes on after a megabyte


def test_a_nul_in_a_field_is_a_character_like_any_other() -> None:
    assert [row for _, row in _csv(b"a\0b,c\n")] == [["a\0b", "c"]]


def test_the_limit_of_csv_fields_is_put_back() -> None:
    import csv

    before = csv.field_size_limit(12_345)  # not what any reader sets
    try:
        next(csv_rows(_file(b"a,b\nc,d\n"), BadRows()))
        assert csv.field_size_limit() == 12_345
        with pytest.raises(InputError):
            _csv(b'"open')
        assert csv.field_size_limit() == 12_345
    finally:
        csv.field_size_limit(before)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "f.txt: the header needs one column 'text', got nothing"),
        (b"label\n", "f.txt, line 1: the header needs one column 'text', got label"),
        (b"text,label,text\n", "f.txt, line 1: the header needs one column 'text'"),
        (b"text;label\n", "f.txt, line 1: the header needs one column 'text', got text;label"),
        (b"text,label\na\n", "f.txt, line 2: expected 2 columns as in the header, got 1"),
        (b"text,label\na,b,c\n", "f.txt, line 2: expected 2 columns as in the header, got 3"),
    ],
    ids=repr,
)
def test_headers(content: bytes, problem: str) -> None:
    with pytest.raises(InputError) as error:
        list(table_rows(_file(content), BadRows(), needs=("text", "label")))
    assert str(error.value).startswith(problem)


def test_rows_by_column() -> None:
    content = b"\n label , text,more\n1,one\n2,two,x\n"
    kept, bad = _skipping(table_rows, content, needs=("text", "label"))
    assert (kept, bad.count) == ([{"label": "2", "text": "two", "more": "x"}], 1)


# Tokenisers ---------------------------------------------------------------------------------------

UNICODE = st.text(
    st.characters(exclude_categories=("Cs",))
    | st.sampled_from(" .,'-’\"\t\n\r_#1éß\xa0\u200b\U0001f600n't"),
    max_size=60,
)


@once
def _tokenisers() -> dict[str, Tokeniser]:
    pytest.importorskip("spacy")
    return {name: find_tokeniser(name) for name in TOKENISERS}


@settings(max_examples=300, deadline=None, derandomize=True)
@given(text=UNICODE)
def test_the_keras_rule(text: str) -> None:
    """As published: these characters become blanks, at which the text is split."""
    plain = text
    for mark in '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n':
        plain = plain.replace(mark, " ")
    expected = [word for word in plain.split(" ") if word]
    assert find_tokeniser("keras").split(text) == expected


@settings(max_examples=300, deadline=None, derandomize=True)
@given(text=UNICODE)
def test_spans_are_the_places_of_the_tokens(text: str) -> None:
    for name, tokeniser in _tokenisers().items():
        spans = tokeniser.spans(text)
        assert [text[first:last] for first, last in spans] == tokeniser.split(text), name
        assert all(first < last for first, last in spans)
        assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(text=UNICODE)
def test_nothing_but_blanks_is_lost(text: str) -> None:
    for name in ("regex", "blanks", "spacy"):
        tokens = _tokenisers()[name].split(text)
        assert "".join("".join(tokens).split()) == "".join(text.split()), name
        assert all(token.strip() for token in tokens)


# Preparation --------------------------------------------------------------------------------------


def _prepared(texts: list[Text], **options: Any) -> tuple[tuple[Example, ...], Preparation]:
    prepare = Preparation("made", tokeniser="blanks", **options)
    return prepare.examples(texts), prepare


def test_empty_texts_are_rejected_dropped_or_skipped() -> None:
    texts = [
        Text("a", "f, line 1", "one"),
        Text("b", "f, line 2", " \n"),
        Text("c", "f, line 3", "two", query=""),
    ]
    with pytest.raises(InputError, match=r"^f, line 2: the text is empty"):
        _prepared(texts)
    with pytest.raises(InputError, match=r"^f, line 3: the query is empty"):
        _prepared(texts[::2])
    made, prepare = _prepared(texts, drop_empty=True)
    assert ([each.example_id for each in made], prepare.dropped) == (["a"], {"empty": 2})
    made, prepare = _prepared(texts, skip_bad=True)
    assert ([each.example_id for each in made], prepare.bad.count) == (["a"], 2)


@pytest.mark.parametrize("least", [None, 0, 2, 3])
@pytest.mark.parametrize("most", [None, 0, 3, 5])
def test_bounds_on_the_length_are_strict(least: int | None, most: int | None) -> None:
    made, prepare = _prepared(
        [Text(str(n), "", ["w"] * n) for n in range(1, 7)], more_than=least, fewer_than=most
    )
    kept = [len(each.tokens) for each in prepare.within_length(made, "dev")]
    short = [n for n in range(1, 7) if least is not None and n <= least]
    long = [n for n in range(1, 7) if n not in short and most is not None and n >= most]
    assert kept == [n for n in range(1, 7) if n not in short and n not in long]
    assert prepare.dropped == {
        why: len(each) for why, each in (("dev, short", short), ("dev, long", long)) if each
    }


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    text=UNICODE.filter(str.strip),
    marks=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=3),
)
def test_evidence_is_the_tokens_that_share_a_character_with_a_span(
    text: str, marks: list[tuple[int, int]]
) -> None:
    for name, tokeniser in _tokenisers().items():
        if not tokeniser.split(text):
            continue
        prepare = Preparation("made", tokeniser="blanks")
        prepare.tokeniser = tokeniser
        (made,) = prepare.examples([Text("a", "", text, evidence_spans=tuple(marks))])
        marked = {place for first, last in marks for place in range(first, last)}
        expected = [bool(marked & set(range(*span))) for span in tokeniser.spans(text)]
        assert made.evidence == tuple(expected), name


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    tokens=st.lists(
        st.sampled_from(["a", "b", ".", "!", "?", '"', "'", ")", "]", "”", "("]), max_size=14
    )
)
def test_numbers_of_sentences(tokens: list[str]) -> None:
    """By hand: remember whether a sentence ended since the last word or opening mark."""
    number, ended, expected = 0, False, []
    for at, token in enumerate(tokens):
        closes = token in {".", "!", "?", '"', "'", ")", "]", "”"}
        if not closes and ended and at:
            number += 1
        expected.append(number)
        ended = (ended or token in {".", "!", "?"}) if closes else False
    assert sentence_numbers(tokens) == tuple(expected)


def test_texts_that_are_repeated_are_counted() -> None:
    draw = random.Random(0)

    def some(split: str, count: int) -> list[Example]:
        return [
            Example(
                f"{split}/{n}",
                tuple(draw.choices("ab", k=draw.randint(1, 3))),
                query=draw.choice([None, ("a",), ("b",)]),
            )
            for n in range(count)
        ]

    for _ in range(30):
        train, dev, test = some("train", 9), some("dev", 8), some("test", 7)

        def met(ones: list[Example], others: list[Example]) -> int:
            return sum(
                any((a.tokens, a.query) == (b.tokens, b.query) for b in others) for a in ones
            )

        assert repeated(train, dev, test) == {
            "dev in train": met(dev, train),
            "test in train": met(test, train),
            "test in dev": met(test, dev),
        }


def test_a_text_of_two_words_is_not_a_text_with_a_query() -> None:
    one, other = Example("a", ("x", "y")), Example("b", ("x",), query=("y",))
    assert repeated([one], [other], [one])["test in train"] == 1
    assert repeated([one], [other], [one])["dev in train"] == 0


def test_the_size_of_the_vocabulary() -> None:
    made = [
        Example("a", ("x", "x", "y")),
        Example("b", ("x", "z"), query=("y",)),
        Example("c", ("z",)),
    ]
    assert [vocabulary_size(made, min_count=least) for least in (1, 2, 3)] == [7, 7, 4]


def test_every_part_is_required_even_of_an_iterator(tmp_path: Path) -> None:
    require_parts(tmp_path, iter(["a", "b", "c"]), ("a", "b", "c"))
    with pytest.raises(InputError, match="b, d is not in it"):
        require_parts(tmp_path, iter(["a", "c"]), ("a", "b", "c", "d"))


def test_nothing_left_is_reported_with_what_was_dropped() -> None:
    made, prepare = _prepared([Text("a", "", "one"), Text("b", "", "")], more_than=5, skip_bad=True)
    kept = prepare.within_length(made, "train")
    with pytest.raises(
        InputError, match=r"no example is left; dropped: 1 \(train, short\), 1 \(bad rows\)"
    ):
        prepare.finish(train=kept, dev=(), test=(), classes=("n", "p"))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("more_than", -1),
        ("fewer_than", 2.5),
        ("more_than", True),
        ("sentences", "no"),
        ("skip_bad", 1),
    ],
)
def test_options_of_all_readers_are_checked(option: str, value: Any) -> None:
    with pytest.raises(InputError, match=rf"made: {option} must be .*, got {value!r}"):
        Preparation("made", **{option: value})


def test_checks_of_options() -> None:
    whole_number("d", "n", 3, least=3)
    yes_or_no("d", "n", False)
    one_of("d", "n", "a", ("a", "b"))
    check_share("d: n", 1)
    for check in (
        lambda: whole_number("d", "n", 2, least=3),
        lambda: yes_or_no("d", "n", 0),
        lambda: one_of("d", "n", ["a"], ("a", "b")),
        lambda: check_share("d: n", float("nan")),
        lambda: check_share("d: n", True),
    ):
        with pytest.raises(InputError, match=r"^d: "):
            check()


# Division -----------------------------------------------------------------------------------------


def _examples(labels: list[int | None]) -> list[Example]:
    return [Example(f"train/{n}", (f"w{n}",), label=label) for n, label in enumerate(labels)]


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    labels=st.lists(st.integers(0, 2), min_size=12, max_size=60),
    share=st.floats(0.1, 0.9),
    seed=st.integers(0, 2**32 - 1),
    stratified=st.booleans(),
)
def test_division(labels: list[int | None], share: float, seed: int, stratified: bool) -> None:
    labels = [*labels, *[0, 1, 2] * 8]
    made = _examples(labels)
    rest, part = divide(made, share, seed=seed, stratified=stratified)
    assert sorted([*rest, *part], key=made.index) == made
    assert [*rest] == sorted(rest, key=made.index)
    assert [*part] == sorted(part, key=made.index)
    assert divide(made, share, seed=seed, stratified=stratified) == (rest, part)
    assert abs(len(part) - share * len(made)) < 1
    if stratified:
        counts = Counter(labels)
        for label, count in Counter(each.label for each in part).items():
            assert abs(count - len(part) * counts[label] / len(made)) <= 1
    theirs = train_test_split(
        made, test_size=share, random_state=seed, stratify=labels if stratified else None
    )
    assert [set(map(id, each)) for each in theirs] == [set(map(id, rest)), set(map(id, part))]


def test_all_or_nothing() -> None:
    made = _examples([0, 1])
    assert divide(made, 0, seed=0) == (tuple(made), ())
    assert divide(made, 1.0, seed=0) == ((), tuple(made))


@pytest.mark.parametrize("labels", [[], [0], [0, 1, 1, 1, 1]])
def test_what_cannot_be_divided_is_reported(labels: list[int | None]) -> None:
    with pytest.raises(InputError, match=rf"Cannot split off 20% of {len(labels)} examples"):
        divide(_examples(labels), 0.2, seed=0)


def test_examples_without_a_label_are_a_group_of_their_own() -> None:
    _, part = divide(_examples([None, 0, 1, None] * 5), 0.4, seed=0)
    assert Counter(each.label for each in part) == {None: 4, 0: 2, 1: 2}


@pytest.mark.parametrize("seed", [-1, "x", 2**40])
def test_a_seed_that_is_none_is_reported(seed: Any) -> None:
    with pytest.raises(InputError):
        divide(_examples([0, 1] * 5), 0.2, seed=seed)


# The store ----------------------------------------------------------------------------------------

WORD = st.text(st.characters(exclude_categories=("Cs",)), max_size=5)


@st.composite
def _splits(draw: st.DrawFn) -> Splits:
    def one(split: str, number: int) -> Example:
        tokens = tuple(draw(st.lists(WORD, min_size=1, max_size=4)))
        maybe = st.none
        label = draw(maybe() | st.integers(0, 2))
        others = draw(maybe() | st.sets(st.integers(0, 2), min_size=1))
        if others is not None and label is not None:
            others.add(label)
        return Example(
            f"{split}/{number}é",
            tokens,
            label=label,
            query=draw(maybe() | st.lists(WORD, min_size=1, max_size=3).map(tuple)),
            evidence=draw(
                maybe()
                | st.lists(st.booleans(), min_size=len(tokens), max_size=len(tokens)).map(tuple)
            ),
            segments=draw(maybe() | st.just(tuple(range(len(tokens))))),
            candidates=None if others is None else tuple(sorted(others)),
        )

    parts = {
        split: tuple(one(split, n) for n in range(draw(st.integers(0, 4))))
        for split in ("train", "dev", "test")
    }
    if len({each.label for each in parts["train"]}) < 2:
        parts["train"] = ()
    notes = {"dropped": {"é": 1}, "rule": draw(WORD), "list": [1, None, 2.5]}
    return Splits("made", **parts, classes=("a", "b", "ü"), tokeniser="t", min_count=3, notes=notes)


@settings(
    max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(splits=_splits())
def test_what_is_stored_comes_back(tmp_path: Path, splits: Splits) -> None:
    parquet_cache.save(splits, tmp_path / "kept")
    again = parquet_cache.load(tmp_path / "kept")
    assert again == splits
    assert splits == again
    assert fingerprint(again) == fingerprint(splits)
    for name in ("train", "dev", "test"):
        ours, theirs = getattr(again, name), getattr(splits, name)
        assert tuple(ours) == theirs
        assert [type(value) for each in ours for value in (each.label, *(each.segments or ()))] == [
            type(value) for each in theirs for value in (each.label, *(each.segments or ()))
        ]
        for each in (slice(None), slice(1, None), slice(None, None, -1), slice(-2, 9)):
            assert ours[each] == theirs[each]
        for at in range(-len(theirs), len(theirs)):
            assert ours[at] == theirs[at]
        for at in (len(theirs), -len(theirs) - 1):
            with pytest.raises(IndexError):
                ours[at]


def _some(count: int = 6) -> Splits:
    made = [Example(f"train/{n}", (f"w{n % 3}", "x"), label=n % 2) for n in range(count)]
    return Splits("made", train=made, dev=(), test=(), classes=("n", "p"), tokeniser="t")


def test_other_examples_are_not_equal(tmp_path: Path) -> None:
    parquet_cache.save(_some(), tmp_path / "kept")
    again = parquet_cache.load(tmp_path / "kept")
    assert again.train != _some(4).train
    assert again.train != list(reversed(_some().train))
    assert again.train != 5


def test_examples_are_made_when_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet_cache.save(_some(), tmp_path / "kept")
    made: list[str] = []

    def counted(example_id: str, **more: Any) -> Example:
        made.append(example_id)
        return Example(example_id, **more)

    monkeypatch.setattr(parquet_cache, "Example", counted)
    again = parquet_cache.load(tmp_path / "kept")
    assert (len(again.train), made) == (6, [])
    assert again.train[-1].example_id == "train/5"
    assert made == ["train/5"]


def test_a_byte_changed_in_the_store_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    parquet_cache.save(_some(), path)
    whole = path.read_bytes()
    noticed = 0
    for at in range(0, len(whole), 3):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x15]) + whole[at + 1 :])
        try:
            again = parquet_cache.load(path)
        except Exception:
            noticed += 1
        else:
            assert again == _some(), at
    assert noticed > len(whole) / 3 / 2


def test_a_failed_save_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: Any, **more: Any) -> None:
        Path(given[1]).write_bytes(b"half")
        raise OSError("no room")

    monkeypatch.setattr(parquet_cache.pq, "write_table", broken)
    with pytest.raises(OSError, match="no room"):
        parquet_cache.save(_some(), tmp_path / "kept")
    assert not list(tmp_path.iterdir())


# The cache ----------------------------------------------------------------------------------------


class Counted:
    """A corpus of one file, whose reader counts how often it is called."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        self.folder, self.monkeypatch = folder / "data", monkeypatch
        self.file = self.folder / "counted" / "a.txt"
        self.file.parent.mkdir(parents=True)
        self.file.write_text("plain\nwords\nof it\nall\n")
        monkeypatch.setenv("ATTNAUDIT_CACHE", str(folder / "cache"))
        self.register()

    def register(self, version: int = 1) -> None:
        about = About("t", "t", "s", "l", "h", places=("counted", "counted.txt"), version=version)

        @describes(about)
        def counted(
            place: Path, *, tokeniser: str = "regex", more: int = 1, seed: int = 0
        ) -> Splits:
            self.calls += 1
            prepare = Preparation("counted", tokeniser=tokeniser)
            path = place if place.is_file() else place / "a.txt"
            texts = [
                Text(f"train/{n}", "", line, n % 2)
                for n, line in enumerate(path.read_text().splitlines())
            ]
            return prepare.finish(
                train=prepare.examples(texts), dev=(), test=(), classes=("n", "p"), more=more
            )

        self.monkeypatch.setitem(DATASETS, "counted", counted)

    def load(self, options: str = "", **more: Any) -> Splits:
        return load(f"counted{options}", data_dir=self.folder, **more)

    def kept(self) -> list[Path]:
        return sorted((self.folder.parent / "cache" / "parsed").iterdir())


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(tmp_path, monkeypatch)


def test_the_second_time_nothing_is_parsed(counted: Counted) -> None:
    first = counted.load()
    second = counted.load()
    assert (counted.calls, first == second) == (1, True)
    assert isinstance(second.train, parquet_cache.StoredExamples)
    assert counted.load(":seed=0,more=1") == first  # the same options, written out
    assert counted.calls == 1


def test_without_the_cache_nothing_is_kept_or_taken(counted: Counted) -> None:
    counted.load(cache=False)
    assert not (counted.folder.parent / "cache").exists()
    counted.load()
    counted.load(cache=False)
    assert counted.calls == 3


@pytest.mark.parametrize(
    "change", ["content", "time", "new file", "name", "option", "seed", "tokeniser", "version"]
)
def test_whatever_changes_it_is_parsed_again(counted: Counted, change: str) -> None:
    counted.load()
    options: dict[str, Any] = {}
    if change == "content":
        counted.file.write_text("other\nwords\nof it\nall, all\n")
    elif change == "time":
        os.utime(counted.file, ns=(1, 1))
    elif change == "new file":
        (counted.file.parent / "b.txt").write_text("")
    elif change == "name":
        (counted.file.parent / "b.txt").write_text("")
        counted.load()
        (counted.file.parent / "b.txt").rename(counted.file.parent / "c.txt")
        counted.calls -= 1
    elif change == "seed":
        options["seed"] = 7
    elif change == "version":
        counted.register(version=2)
    choice = {"option": ":more=2", "tokeniser": ":tokeniser=blanks"}.get(change, "")
    counted.load(choice, **options)
    assert counted.calls == 2
    counted.load(choice, **options)
    assert counted.calls == 2


def test_of_a_single_file_the_content_counts(counted: Counted) -> None:
    path = counted.folder / "counted.txt"
    counted.file.rename(path)
    counted.file.parent.rmdir()
    first = counted.load()
    os.utime(path, ns=(1, 1))
    assert (counted.load() == first, counted.calls) == (True, 1)
    status = path.stat()
    path.write_text(path.read_text().replace("plain", "brown"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert counted.load().train[0].tokens == ("brown",)
    assert counted.calls == 2


def test_auto_is_kept_apart_by_what_it_means(
    counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("spacy")
    assert counted.load(":tokeniser=auto").tokeniser.startswith("spacy-")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert counted.load(":tokeniser=auto").tokeniser == "regex"
    assert counted.calls == 2


@pytest.mark.parametrize("damage", ["empty", "cut", "changed", "text"])
def test_a_damaged_file_of_the_cache_is_replaced(counted: Counted, damage: str) -> None:
    first = counted.load()
    (kept,) = counted.kept()
    whole = kept.read_bytes()
    kept.write_bytes(
        {
            "empty": b"",
            "cut": whole[:-9],
            "changed": whole[:4] + bytes(byte ^ 0x15 for byte in whole[4:60]) + whole[60:],
            "text": b"PAR1 or so",
        }[damage]
    )
    assert kept.read_bytes() != whole
    assert (counted.load() == first, counted.calls) == (True, 2)
    assert (counted.load() == first, counted.calls) == (True, 2)
    assert counted.kept() == [kept]


def test_a_cache_that_cannot_be_written_costs_time_only(counted: Counted) -> None:
    (counted.folder.parent / "cache").write_text("a file, where the folder should be")
    first = counted.load()
    assert (counted.load() == first, counted.calls) == (True, 2)


def test_a_link_to_nothing_is_no_trouble(counted: Counted) -> None:
    (counted.file.parent / "link").symlink_to("nowhere")
    counted.load()
    counted.load()
    assert counted.calls == 1


def test_a_place_that_cannot_be_read_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(b"")

    def refused(*given: Any, **more: Any) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(InputError, match=r"a\.zip: cannot be read \(.*Permission denied"):
        cache.files_fingerprint(path)


@pytest.mark.parametrize("option", ["place=x", "folder=5", "folder=[1]"])
def test_a_choice_cannot_break_the_loading(counted: Counted, option: str) -> None:
    with pytest.raises(InputError, match=r"has no option 'place'|data folder '.*' does not exist"):
        counted.load(f":{option}")


def test_a_cache_that_may_not_be_read_costs_time_only(
    counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*given: Any, **more: Any) -> None:
        raise PermissionError(13, "Permission denied")

    first = counted.load()
    monkeypatch.setattr(parquet_cache, "load", refused)
    monkeypatch.setattr(Path, "unlink", refused)
    monkeypatch.setattr(parquet_cache, "save", refused)
    assert (counted.load() == first, counted.calls) == (True, 2)


def _save_often(folder: str, seed: int) -> None:
    for number in range(30):
        parquet_cache.save(_some(40 + seed * 2 + number % 2), Path(folder) / "kept")


def test_two_processes_may_write_at_once(tmp_path: Path) -> None:
    """The last writer wins, and the file is complete at any time. Processes are forks of one."""
    copies = multiprocessing.get_context("fork")
    writers = [copies.Process(target=_save_often, args=(str(tmp_path), seed)) for seed in range(2)]
    parquet_cache.save(_some(40), tmp_path / "kept")
    for writer in writers:
        writer.start()
    read = 0
    while any(writer.is_alive() for writer in writers):
        assert 40 <= len(parquet_cache.load(tmp_path / "kept").train) <= 43
        read += 1
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert read > 0
    assert [each.name for each in tmp_path.iterdir()] == ["kept"]


# IMDB on made files -------------------------------------------------------------------------------


def _reviews(folder: Path, names: list[str]) -> Path:
    for part in ("train/neg", "train/pos", "test/neg", "test/pos"):
        (folder / part).mkdir(parents=True, exist_ok=True)
        for number in range(3):
            stars = 1 + number if part.endswith("neg") else 10 - number
            (folder / part / f"{number}_{stars}.txt").write_text(
                f"A review<br />no {number} of {part}."
            )
    for name in names:
        (folder / name).write_text("one more")
    return folder


def _imdb(place: Path, **options: Any) -> Splits:
    return imdb(
        place, **{"more_than": None, "fewer_than": None, "dev_share": 0, "test_share": 1, **options}
    )


def test_imdb_words_labels_and_stars(tmp_path: Path) -> None:
    made = _imdb(_reviews(tmp_path, []))
    assert made.train[0] == Example(
        "train/neg/0", ("a", "review", "br", "no", "qqq", "of", "train", "neg"), label=0
    )
    assert Counter(each.label for each in made.test) == {0: 3, 1: 3}
    plain = _imdb(tmp_path, breaks=False, tokeniser="regex", replace_numbers=False)
    assert plain.train[5].tokens == ("a", "review", "no", "2", "of", "train", "/", "pos", ".")
    stars = _imdb(tmp_path, labels="stars")
    assert [stars.classes[each.label or 0] for each in stars.train] == [
        "1 star",
        "2 stars",
        "3 stars",
        "10 stars",
        "9 stars",
        "8 stars",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "train/neg/7_7.txt",
        "train/pos/7_4.txt",
        "train/pos/7_5.txt",
        "test/neg/7_0.txt",
        "test/neg/x_1.txt",
        "test/neg/²_1.txt",
        "test/pos/1_" + "9" * 200 + ".txt",
        "test/pos/7.txt",
    ],
)
def test_imdb_names_that_are_none_are_reported(tmp_path: Path, name: str) -> None:
    place = _reviews(tmp_path, [name])
    with pytest.raises(InputError, match=r"expected a file name <number>_<stars>\.txt"):
        _imdb(place)
    assert _imdb(place, skip_bad=True).notes["skipped"]["rows"] == 1


def test_imdb_given_a_file_or_a_folder_without_a_part(tmp_path: Path) -> None:
    (tmp_path / "aclImdb.txt").write_text("not it")
    with pytest.raises(InputError, match="expected a file name"):
        _imdb(tmp_path / "aclImdb.txt")
    place = _reviews(tmp_path / "whole", [])
    for path in (place / "test" / "pos").iterdir():
        path.unlink()
    with pytest.raises(InputError, match="test/pos is not in it"):
        _imdb(place)


@pytest.mark.parametrize(
    ("option", "value"),
    [("min_count", "x"), ("min_count", 0), ("seed", "x"), ("seed", -1), ("labels", ["stars"])],
)
def test_imdb_options_are_checked_before_reading(option: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"imdb: {option} must be"):
        imdb(Path("nowhere"), **{option: value})
