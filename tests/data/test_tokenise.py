"""Tokenisers: tokens, spans, names and the cleaner."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import pytest

from attnaudit.core.errors import InputError
from attnaudit.data.reading.tokenise import (
    TOKENISERS,
    Cleaner,
    _spacy,
    find_tokeniser,
    tokeniser_name,
)

SENTENCE = "It isn't well-made, in 2004!"


def test_tokenisers_and_their_names() -> None:
    assert find_tokeniser("blanks").split(SENTENCE) == ["It", "isn't", "well-made,", "in", "2004!"]
    assert find_tokeniser("regex").split(SENTENCE) == [
        "It",
        "isn't",
        "well-made",
        ",",
        "in",
        "2004",
        "!",
    ]
    assert find_tokeniser("keras").split(SENTENCE) == ["It", "isn't", "well", "made", "in", "2004"]
    assert [find_tokeniser(name).name for name in ("blanks", "regex", "keras")] == [
        "blanks",
        "regex",
        "keras",
    ]


def test_spacy_by_name_and_by_default() -> None:
    spacy = pytest.importorskip("spacy")
    tokeniser = find_tokeniser("spacy")
    assert tokeniser.split(SENTENCE) == [
        "It",
        "is",
        "n't",
        "well",
        "-",
        "made",
        ",",
        "in",
        "2004",
        "!",
    ]
    assert tokeniser.split(" two  blanks ") == ["two", "blanks"]
    assert tokeniser.name == f"spacy-{spacy.__version__.rsplit('.', 1)[0]} blank en"
    assert find_tokeniser().name == tokeniser_name() == tokeniser_name("spacy") == tokeniser.name


def test_without_spacy_the_default_is_regex(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert find_tokeniser().name == tokeniser_name() == "regex"


def test_without_spacy_asking_for_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    monkeypatch.setitem(TOKENISERS, "spacy", _spacy)  # not what was made before
    with pytest.raises(
        InputError, match=r"pip install 'attnaudit\[text\]', or choose tokeniser=regex"
    ):
        find_tokeniser("spacy")


@pytest.mark.parametrize("choice", ["nltk", ["regex"], 5])
def test_an_unknown_tokeniser_lists_the_choices(choice: Any) -> None:
    with pytest.raises(
        InputError, match=r"no tokeniser .*\. Choose from: auto, spacy, regex, blanks, keras"
    ):
        find_tokeniser(choice)


def test_cleaning() -> None:
    assert Cleaner().clean(["The", "21st", "Film", "x²"]) == ("the", "qqq", "film", "qqq")
    assert Cleaner(replace_numbers=False).clean(["The", "21st"]) == ("the", "21st")
