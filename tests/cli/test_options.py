"""How the values of options are read."""

from __future__ import annotations

import pytest

from attnaudit.cli.options import split_labels, split_names, split_numbers
from attnaudit.core.errors import InputError


def test_commas_separate_names_but_not_the_options_of_one_name() -> None:
    assert split_names("furthest:epsilon=0.05,fidelity=code,permutation") == (
        "furthest:epsilon=0.05,fidelity=code",
        "permutation",
    )
    assert split_names(None) is None


def test_numbers_are_joined_by_plus_and_words_stay() -> None:
    assert split_numbers("0+3") == [0, 3]
    assert split_numbers("-1") == [-1]
    assert split_numbers("all") == "all"


def test_labels_are_pairs_and_each_is_given_once() -> None:
    assert split_labels("pos=good, neg=bad") == {"pos": "good", "neg": "bad"}
    assert split_labels(None) is None
    for wrong in ("pos", "pos=", "=good", "pos=good,pos=bad", ""):
        with pytest.raises(InputError, match="--labels must be label=CLASS"):
            split_labels(wrong)
