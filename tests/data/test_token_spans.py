"""Tokens of other tokenizers are found in the text, or the first difference is said."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnaudit import InputError
from attnaudit.data.token_spans import token_spans


@pytest.mark.parametrize(
    ("text", "tokens", "found"),
    [
        ("A dull film.", ["a", "dull", "film", "."], ["A", "dull", "film", "."]),
        ("A dull film.", ["A ", "dull ", "film."], ["A", "dull", "film."]),
        (
            "Café au lait",
            ["[CLS]", "cafe", "au", "la", "##it", "[SEP]"],
            [None, "Café", "au", "la", "it", None],
        ),
        (
            "a dull film",
            ["<s>", "▁a", "▁du", "ll", "▁film", "</s>"],
            [None, "a", "du", "ll", "film", None],
        ),
        ("a dull film", ["a", "Ġdull", "Ġfilm"], ["a", "dull", "film"]),
        ("a 漢字 film", ["a", "[UNK]", "film"], ["a", "漢字", "film"]),
        ("don't go", ["don", "'", "t", "go"], ["don", "'", "t", "go"]),
        ("", [""], [None]),
    ],
)
def test_tokens_are_found(text: str, tokens: list[str], found: list[str | None]) -> None:
    spans = token_spans(text, tokens)
    assert [None if span is None else text[slice(*span)] for span in spans] == found


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (
            ["a", "nice", "film"],
            r"token 1 is 'nice', where the text has 'dull film' \(character 2\)",
        ),
        (["a", "dull"], r"They end before character 7: 'film'"),
        (["a", "dull", "film", "too"], r"token 3 is 'too', where the text has 'nothing more'"),
    ],
)
def test_the_first_difference_is_said(tokens: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        token_spans("a dull film", tokens, "mine, text 0")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(["film", "Ärger", "x.", "ﬁne", "it's", "好"]), min_size=1))
def test_any_cut_of_the_text_is_found_again(words: list[str]) -> None:
    text = "  ".join(words)
    spans = token_spans(text, words)
    assert [text[slice(*span)] for span in spans if span] == words
