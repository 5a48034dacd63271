"""The bAbI text format: parsing, writing and examples."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnaudit.core.errors import InputError
from attnaudit.data.corpora.babi_simulated import simulate
from attnaudit.data.corpora.babi_text import answers, as_text, examples, parse
from attnaudit.data.splits import Example

TEXT = """1 Ann went to the attic.
2 Ben took the lamp there.
3 Where is Ann? \tattic\t1
4 Ann moved to the cellar.
5 Where is Ann? \tcellar\t4
1 Ben went to the cellar.
2 Where is Ben? \tcellar\t1
"""


def test_examples_of_a_text_in_the_official_format() -> None:
    stories = parse(TEXT)
    assert answers(stories) == ("attic", "cellar")
    assert examples(stories, answers(stories), split="dev") == (
        Example(
            "dev/0",
            ("ann", "went", "to", "the", "attic", ".", "ben", "took", "the", "lamp", "there"),
            label=0,
            query=("where", "is", "ann"),
            evidence=(True,) * 5 + (False,) * 6,
            segments=(0,) * 6 + (1,) * 5,
        ),
        Example(
            "dev/1",
            _words("ann went to the attic . ben took the lamp there . ann moved to the cellar"),
            label=1,
            query=("where", "is", "ann"),
            evidence=(False,) * 12 + (True,) * 5,
            segments=(0,) * 6 + (1,) * 6 + (2,) * 5,
        ),
        Example(
            "dev/2",
            ("ben", "went", "to", "the", "cellar"),
            label=1,
            query=("where", "is", "ben"),
            evidence=(True,) * 5,
            segments=(0,) * 5,
        ),
    )


def test_text_survives_reading_and_writing() -> None:
    assert as_text(parse(TEXT)) == TEXT


@settings(max_examples=30, deadline=None)
@given(task=st.sampled_from([1, 2, 3]), questions=st.integers(0, 12), seed=st.integers(0, 2**40))
def test_simulated_stories_survive_writing_and_reading(
    task: int, questions: int, seed: int
) -> None:
    stories = simulate(task=task, questions=questions, split="train", seed=seed)
    assert parse(as_text(stories)) == stories
    assert sum(line.answer is not None for story in stories for line in story) == questions


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2 Ann slept.\n", r"qa.txt, line 1: expected a line with id 1, got '2 Ann slept.'"),
        ("1 Ann slept.\n3 Ben slept.\n", r"line 2: expected a line with id 2 or 1"),
        (
            "1 Ann slept.\n2 Who?\tAnn\n",
            r"line 2: expected question<TAB>answer<TAB>supporting ids, got 2 fields",
        ),
        (
            "1 Ann slept.\n2 Who? \tAnn\t3\n",
            r"line 2: the supporting id '3' is not a statement before",
        ),
        (
            "1 Ann slept.\n2 Who? \tAnn\t1\n3 Who? \tAnn\t2\n",
            r"line 3: the supporting id '2' is not a statement",
        ),
    ],
)
def test_text_that_is_not_in_the_format_is_rejected_by_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(text, source="qa.txt")


def test_an_answer_outside_the_classes_is_rejected() -> None:
    with pytest.raises(InputError, match="'cellar' is none of the classes attic"):
        examples(parse(TEXT), ["attic"], split="dev")


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())
