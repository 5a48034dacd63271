"""Checks of examples and splits."""

from __future__ import annotations

import pytest

from attnaudit.core.errors import InputError
from attnaudit.data.splits import Example


@pytest.mark.parametrize(
    ("label", "candidates", "message"),
    [
        (0, (1,), "the label 0 is not among its candidates"),
        (0, (0, 2), "a candidate is not one of the 2 classes"),
    ],
)
def test_candidates_must_be_classes_and_hold_the_label(
    label: int, candidates: tuple[int, ...], message: str
) -> None:
    from attnaudit.data.splits import check_example

    with pytest.raises(InputError, match=message):
        check_example(Example("a", ("word",), label=label, candidates=candidates), 2, "corpus")
    check_example(Example("a", ("word",), label=1, candidates=(0, 1)), 2, "corpus")
