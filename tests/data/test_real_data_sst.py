"""SST against the counts of the paper and the released notebook (Jain & Wallace 2019)."""

from __future__ import annotations

import os

import pytest

from attnaudit.data import load
from label_counts import label_counts

pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif("ATTNAUDIT_DATA" not in os.environ, reason="ATTNAUDIT_DATA is not set"),
]


def test_published_counts_with_spacy() -> None:
    pytest.importorskip("spacy")
    splits = load("sst:tokeniser=spacy")
    assert label_counts(splits) == [(3034, 3321), (397, 424), (863, 862)]
    assert splits.notes["vocabulary_before_length_filter"] == 13_826
    assert splits.tokeniser.startswith("spacy-3.")
    assert sum(len(each.tokens) for each in splits.train) / len(splits.train) == pytest.approx(
        18.7, abs=0.05
    )
    # The one training word that spaCy splits and blanks do not: the tokeniser is truly spaCy's.
    assert any(
        ("gon", "na") in zip(each.tokens, each.tokens[1:], strict=False) for each in splits.train
    )


def test_counts_on_blanks_are_the_same() -> None:
    splits = load("sst:tokeniser=blanks")
    assert label_counts(splits) == [(3034, 3321), (397, 424), (863, 862)]
    assert splits.notes["vocabulary_before_length_filter"] == 13_826


def test_the_strict_upper_bound_costs_one_sentence_a_split() -> None:
    splits = load("sst:tokeniser=blanks,drop_longest=false")
    assert label_counts(splits) == [(3035, 3321), (397, 425), (863, 863)]


def test_without_any_length_filter_the_counts_are_the_official_ones() -> None:
    splits = load("sst:tokeniser=blanks,drop_longest=false,min_length=1")
    assert label_counts(splits) == [(3310, 3610), (428, 444), (912, 909)]


def test_numbers_made_one_word_shrink_the_vocabulary() -> None:
    splits = load("sst:tokeniser=blanks,replace_numbers=true")
    assert splits.notes["vocabulary_before_length_filter"] == 13_686
