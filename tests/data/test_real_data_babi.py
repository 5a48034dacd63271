"""Simulated bAbI against the released files: the same words and, within noise, statistics."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from attnaudit.data.corpora.babi_simulated import PLACES, simulate
from attnaudit.data.corpora.babi_text import Story, answers, as_text, examples, parse

pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif("ATTNAUDIT_DATA" not in os.environ, reason="ATTNAUDIT_DATA is not set"),
]

FILES = {
    1: [
        "en-10k/qa1_single-supporting-fact_train.txt",
        "en-10k/qa1_single-supporting-fact_test.txt",
    ],
    2: ["en-10k/qa2_two-supporting-facts_train.txt", "en-10k/qa2_two-supporting-facts_test.txt"],
    3: [
        "en-10k/qa3_three-supporting-facts_train_part1000.txt",
        "en-10k/qa3_three-supporting-facts_test.txt",
        "en/qa3_three-supporting-facts_train.txt",
    ],
}
Count = Callable[[Iterable[Story]], Counter]
QUESTIONS = {1: [10_000, 1_000], 2: [10_000, 1_000], 3: [1_000, 1_000, 1_000]}
WORDS = {1: 24, 2: 38, 3: 39}  # printed by the released notebook, with the four marks


def _text(name: str) -> str:
    return (Path(os.environ["ATTNAUDIT_DATA"]) / "babi" / name).read_text(encoding="utf-8")


@cache
def _real(task: int) -> tuple[Story, ...]:
    return tuple(story for name in FILES[task] for story in parse(_text(name), source=name))


@cache
def _simulated(task: int) -> tuple[Story, ...]:
    return simulate(task=task, questions=10_000, split="train", seed=0)


@pytest.mark.parametrize("task", [1, 2, 3])
def test_the_released_files_are_read_whole_and_written_back_byte_for_byte(task: int) -> None:
    for name, questions in zip(FILES[task], QUESTIONS[task], strict=True):
        text = _text(name)
        stories = parse(text, source=name)
        assert answers(stories) == PLACES
        assert sum(line.answer is not None for story in stories for line in story) == questions
        assert as_text(stories) == text


@pytest.mark.parametrize("task", [1, 2, 3])
def test_the_words_are_the_same(task: int) -> None:
    real, simulated = _words_and_length(_real, task)[0], _words_and_length(_simulated, task)[0]
    assert simulated == real
    assert len(real) + 4 == WORDS[task]


@pytest.mark.parametrize("task", [1, 2, 3])
def test_stories_are_as_long(task: int) -> None:
    real, simulated = _words_and_length(_real, task)[1], _words_and_length(_simulated, task)[1]
    assert simulated == pytest.approx(real, rel=0.04)


@pytest.mark.parametrize("task", [1, 2, 3])
def test_distributions_are_alike(task: int) -> None:
    """Total variation of what can be counted.

    Bounds: the largest of eight runs of the simulator against itself at the
    released size, and about half as much again.
    """
    bounds: dict[int, dict[Count, float]] = {
        1: {_answers: 0.025, _gaps: 1e-9, _statements: 0.015},
        2: {_answers: 0.04, _gaps: 0.03, _statements: 0.015},
        # The released answers are less uniform (0.06) than ours (at most 0.03 in those runs): 600
        # stories with repeated questions, and no rule found that explains it, as people move to
        # all places equally often.
        3: {_answers: 0.08, _gaps: 0.09, _statements: 0.015},
    }
    for count, bound in bounds[task].items():
        found = _variation(count(_real(task)), count(_simulated(task)))
        assert found < bound, (count, found)


@pytest.mark.parametrize(
    ("task", "fact", "bound"),
    [(1, 0, 0.015), (2, 0, 0.03), (2, 1, 0.03)] + [(3, n, 0.06) for n in range(3)],
)
def test_the_evidence_lies_as_far_back(task: int, fact: int, bound: float) -> None:
    assert _variation(_distance(_real(task), fact), _distance(_simulated(task), fact)) < bound


def test_the_bound_could_be_missed() -> None:
    """The control: another task's statistics are far outside."""
    assert _variation(_distance(_real(1), 0), _distance(_simulated(2), 0)) > 0.15
    assert _variation(_gaps(_real(2)), _gaps(_simulated(3))) > 0.15


@cache
def _words_and_length(
    stories: Callable[[int], tuple[Story, ...]], task: int
) -> tuple[set[str], float]:
    """Every word, and the mean number of tokens before a question."""
    found = examples(stories(task), PLACES, split="x")
    words = {word for example in found for word in (*example.tokens, *(example.query or ()))}
    return words, sum(len(example.tokens) for example in found) / len(found)


def _answers(stories: Iterable[Story]) -> Counter:
    return Counter(line.answer for story in stories for line in story if line.answer is not None)


def _gaps(stories: Iterable[Story]) -> Counter:
    """Statements from one question to the next, the first question of a story apart."""
    found: Counter = Counter()
    for story in stories:
        asked = [
            0,
            *(number for number, line in enumerate(story, start=1) if line.answer is not None),
        ]
        found.update((before == 0, after - before) for before, after in pairwise(asked))
    return found


def _statements(stories: Iterable[Story]) -> Counter:
    """The statements, without the names of people, things and places."""
    return Counter(
        " ".join(
            word
            for word in line.text.rstrip(".").split()[1:]
            if word not in (*PLACES, "apple", "football", "milk")
        )
        for story in stories
        for line in story
        if line.answer is None
    )


def _distance(stories: Iterable[Story], fact: int) -> Counter:
    """How many statements back the first, second or third listed supporting fact lies."""
    found: Counter = Counter()
    for story in stories:
        statements: list[int] = []
        for number, line in enumerate(story, start=1):
            if line.answer is None:
                statements.append(number)
            else:
                found[len(statements) - statements.index(line.support[fact])] += 1
    return found


def _variation(one: Counter, other: Counter) -> float:
    """Total variation: half the sum of the differences between shares."""
    total_one, total_other = sum(one.values()), sum(other.values())
    return sum(abs(one[key] / total_one - other[key] / total_other) for key in {*one, *other}) / 2
