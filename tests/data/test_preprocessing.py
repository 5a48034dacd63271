"""Texts to examples: tokens, sentences, length filters, counts and options."""

from __future__ import annotations

import random
from functools import cache as once
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnaudit.core.errors import InputError
from attnaudit.data.reading.options import one_of, whole_number, yes_or_no
from attnaudit.data.reading.preprocessing import (
    Preparation,
    Text,
    repeated,
    require_parts,
    sentence_numbers,
    vocabulary_size,
)
from attnaudit.data.reading.splitting import check_share
from attnaudit.data.reading.tokenise import TOKENISERS, Tokeniser, find_tokeniser
from attnaudit.data.splits import Example

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
