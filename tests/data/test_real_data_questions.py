"""bAbI and SNLI against the counts of the released files and of Jain & Wallace (2019)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from attnaudit.core.errors import InputError
from attnaudit.data import load
from attnaudit.data.corpora.babi_simulated import PLACES
from attnaudit.data.splits import Example
from attnaudit.data.vocabulary import Vocabulary

pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif("ATTNAUDIT_DATA" not in os.environ, reason="ATTNAUDIT_DATA is not set"),
]


@pytest.mark.parametrize(
    ("choice", "train", "words", "length"),
    [
        ("babi_files:task=1", 10_000, 24, 37),
        ("babi_files:task=2", 10_000, 38, 94),
        ("babi_files:task=1,size=1k", 1_000, 24, 37),
        ("babi_files:task=2,size=1k", 1_000, 38, 94),
        ("babi_files:task=3,size=1k", 1_000, 39, 302),
    ],
)
def test_babi_counts(choice: str, train: int, words: int, length: int) -> None:
    read = load(choice)
    assert (len(read.train), len(read.dev), len(read.test)) == (train * 0.85, train * 0.15, 1_000)
    assert read.classes == PLACES
    assert len(Vocabulary.build(read.train)) == words
    # Lengths are of the real files: the paper prints others (8, 67 and 421).
    everything = [*read.train, *read.dev]
    assert sum(len(each.tokens) for each in everything) / train == pytest.approx(length, rel=0.05)
    facts = {
        len(
            {
                segment
                for segment, true in zip(each.segments or (), each.evidence or (), strict=True)
                if true
            }
        )
        for each in everything
    }
    assert facts == {int(choice.split("task=")[1][0])}


def test_babi_dev_of_questions_is_the_split_of_the_released_code() -> None:
    """scikit-learn's train_test_split takes the first of a permutation; computed without it."""
    read = load("babi_files:dev=questions,seed=16377")
    expected = np.random.RandomState(16377).permutation(10_000)[:1_500]
    assert [each.example_id for each in read.dev] == [
        f"train/{number}" for number in sorted(expected)
    ]


@pytest.mark.parametrize(("task", "words"), [(1, 20), (2, 34)])
def test_babi_every_word_a_candidate(task: int, words: int) -> None:
    assert len(load(f"babi_files:task={task},answers=every_word").classes) == words


def test_the_large_training_file_of_task_3_is_not_there() -> None:
    with pytest.raises(
        InputError,
        match=r"en-10k/qa3_three-supporting-facts_train.txt is not in it.*_train_part1000.txt",
    ):
        load("babi_files:task=3")


def _classes(examples: Sequence[Example]) -> list[int]:
    counts = Counter(each.label for each in examples)
    return [counts[label] for label in range(3)]


def test_snli_counts() -> None:
    read = load("snli:tokeniser=regex")
    assert read.classes == ("neutral", "contradiction", "entailment")
    assert (len(read.train), len(read.dev), len(read.test)) == (19_999, 9_842, 9_824)
    assert _classes(read.train) == [6_562, 6_771, 6_666]
    assert _classes(read.dev) == [3_235, 3_278, 3_329]
    assert _classes(read.test) == [3_219, 3_237, 3_368]  # table 1 of the paper, in its order
    assert read.notes["repeated"] == {"dev in train": 0, "test in train": 0, "test in dev": 0}
    assert read.notes["files"]["train"] == "snli_1.0_train_subset20k.tsv"
    first = read.dev[0]
    assert (first.tokens[:3], (first.query or ())[:3]) == (
        ("two", "women", "are"),
        ("the", "sisters", "are"),
    )


def test_snli_premises_are_as_long_as_published() -> None:
    pytest.importorskip("spacy")
    read = load("snli:tokeniser=spacy")
    assert sum(len(each.tokens) for each in read.train) / len(read.train) == pytest.approx(
        14, abs=0.5
    )


def test_snli_jsonl_and_tsv_agree_on_every_pair_they_share() -> None:
    """The jsonl parts have all official fields. Both are of the official dev set, even "test"."""
    parts, whole = load("snli:part=head,tokeniser=regex"), load("snli:tokeniser=regex")
    assert parts.notes["dropped"] == {"dev, no gold label": 16, "test, no gold label": 23}
    assert (len(parts.dev), len(parts.test)) == (1_289 - 16, 1_277 - 23)
    labels = {_letters(each): each.label for each in whole.dev}
    for part, found in ((parts.dev, 1_273), (parts.test, 1_251)):
        shared = [each for each in part if _letters(each) in labels]
        assert len(shared) == found
        assert [each.label for each in shared] == [labels[_letters(each)] for each in shared]
    assert not {_letters(each) for each in parts.test} & {_letters(each) for each in whole.test}


def _letters(example: Example) -> tuple[str, str]:
    """The two texts without blanks and marks, which the tsv sets apart in its own way."""
    one, two = (
        "".join(filter(str.isalnum, "".join(words)))
        for words in (example.tokens, example.query or ())
    )
    return one, two
