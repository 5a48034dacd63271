"""The bAbI simulator against two independent ways to the answer."""

from __future__ import annotations

from collections import Counter

import pytest

from attnaudit.data.corpora.babi_simulated import PLACES, VERBS, babi, simulate
from attnaudit.data.corpora.babi_text import as_text
from attnaudit.data.splits import Example


@pytest.mark.parametrize("task", [1, 2, 3])
def test_every_simulated_answer_follows_from_the_text(task: int) -> None:
    made = babi(task=task, train=500, test=500)
    for example in (*made.train, *made.dev, *made.test):
        assert PLACES[_label(example)] == _replay(_sentences(example), example.query or ())


@pytest.mark.parametrize("task", [1, 2, 3])
def test_the_evidence_is_as_many_sentences_as_the_task_has_facts_and_is_enough(task: int) -> None:
    for example in babi(task=task, train=500, test=0).train:
        marked = {
            segment
            for segment, true in zip(
                _known(example.segments), _known(example.evidence), strict=True
            )
            if true
        }
        assert len(marked) == task
        for token, segment, true in zip(
            example.tokens, _known(example.segments), _known(example.evidence), strict=True
        ):
            assert true == (segment in marked and token != ".")
        kept = [sentence for number, sentence in enumerate(_sentences(example)) if number in marked]
        assert PLACES[_label(example)] == _from_facts(kept, example.query or ())


def test_without_the_evidence_the_replay_fails() -> None:
    """The control: the two tests above could not fail if any sentences gave the answer."""
    wrong = 0
    for example in babi(task=2, train=500, test=0).train:
        marked = {
            segment
            for segment, true in zip(
                _known(example.segments), _known(example.evidence), strict=True
            )
            if true
        }
        rest = [
            sentence for number, sentence in enumerate(_sentences(example)) if number not in marked
        ]
        wrong += PLACES[_label(example)] != _replay(rest, example.query or ())
    assert wrong > 250


@pytest.mark.parametrize(
    ("train", "share", "test", "sizes"),
    [(1004, 0.15, 17, (853, 151, 17)), (40, 0.5, 0, (20, 20, 0)), (20, 0.0, 3, (20, 0, 3))],
)
def test_babi_sizes_are_exact(
    train: int, share: float, test: int, sizes: tuple[int, int, int]
) -> None:
    made = babi(task=1, train=train, dev_share=share, test=test)
    assert (len(made.train), len(made.dev), len(made.test)) == sizes
    assert [each.example_id for each in made.test] == [f"test/{number}" for number in range(test)]


def test_babi_depends_on_the_seed_and_on_nothing_else() -> None:
    made = babi(task=3, train=60, test=20, seed=5)
    assert made == babi(seed=5, test=20, train=60, task=3)
    assert made.test != babi(task=3, train=60, test=20, seed=6).test
    assert made.train == babi(task=3, train=600, test=20, seed=5).train[: len(made.train)]


def test_babi_splits_share_no_story() -> None:
    stories = [
        {as_text([story]) for story in simulate(task=2, questions=1000, split=split, seed=0)}
        for split in ("train", "dev", "test")
    ]
    assert [len(each) for each in stories] == [200, 200, 200]
    assert len(set.union(*stories)) == 600


def test_babi_answers_are_about_even() -> None:
    counts = Counter(
        example.label for example in babi(task=1, train=6000, dev_share=0, test=0).train
    )
    assert len(counts) == 6
    assert all(800 < count < 1200 for count in counts.values())


def _known(values: tuple | None) -> tuple:
    assert values is not None
    return values


def _label(example: Example) -> int:
    assert example.label is not None
    return example.label


def _sentences(example: Example) -> list[list[str]]:
    return [sentence.split() for sentence in " ".join(example.tokens).split(" . ")]


def _replay(sentences: list[list[str]], query: tuple[str, ...]) -> str | None:
    """Follow people and things through the story; the places of a thing are a list."""
    person_at: dict[str, str] = {}
    holder: dict[str, str] = {}
    been: dict[str, list[str]] = {}
    for sentence in sentences:
        person, words = sentence[0], [word for word in sentence[1:] if word != "there"]
        if words[-1] in PLACES:
            person_at[person] = words[-1]
            for thing, by in holder.items():
                if by == person:
                    been.setdefault(thing, []).append(words[-1])
            continue
        thing = words[-1]
        if " ".join(words[:-2]) in VERBS["take"]:
            holder[thing] = person
        else:
            holder.pop(thing, None)
        if person in person_at and been.get(thing, [None])[-1] != person_at[person]:
            been.setdefault(thing, []).append(person_at[person])
    if "before" in query:
        path = been.get(query[3], [])
        last = max((number for number, place in enumerate(path) if place == query[-1]), default=0)
        return path[last - 1] if last else None
    if query[-1] in person_at:
        return person_at[query[-1]]
    return been.get(query[-1], [None])[-1]


def _from_facts(facts: list[list[str]], query: tuple[str, ...]) -> str:
    """From the supporting sentences only: the last place, or the one before the place asked for."""
    places = [sentence[-1] for sentence in facts if sentence[-1] in PLACES]
    assert len({sentence[0] for sentence in facts}) == 1
    if "before" in query:
        assert places[1] == query[-1]
        return places[0]
    return places[-1]
