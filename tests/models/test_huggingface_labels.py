"""Labels of a user's texts as class numbers of the model."""

from __future__ import annotations

import math

import pytest

from attnaudit.core.errors import InputError
from attnaudit.models.huggingface.labels import class_numbers


def test_a_column_of_labels_is_read_as_names_or_as_numbers_but_not_both() -> None:
    stars = ["1", "2", "3", "4", "5"]
    assert class_numbers([0, 1, 2, 3, 4], stars, 0) == [0, 1, 2, 3, 4]
    assert class_numbers([1, 2, 3, 4, 5], stars, 0) == [0, 1, 2, 3, 4]
    assert class_numbers(["BAD", " good "], ["Bad", "Good"], 0) == [0, 1]
    assert class_numbers(["0", 1.0], ["Bad", "Good"], 0) == [0, 1]
    for wrong in ([0.9, 1], ["bad", 1], [math.nan], [2], [-1]):
        with pytest.raises(InputError, match="not a class of the model"):
            class_numbers(wrong, ["Bad", "Good"], 0)
