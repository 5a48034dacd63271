"""Generated examples are a sequence like a tuple of them, and are made only on access."""

from __future__ import annotations

import pytest

from attnaudit.data.generated_examples import GeneratedExamples
from attnaudit.data.splits import Example

COUNT = 5


def example(number: int) -> Example:
    return Example(f"test/{number}", ("word",) * (number % COUNT + 1))


GENERATED = GeneratedExamples(COUNT, example)
STORED = tuple(example(number) for number in range(COUNT))


@pytest.mark.parametrize("index", range(-COUNT, COUNT))
def test_an_index_gives_what_a_tuple_gives(index: int) -> None:
    assert GENERATED[index] == STORED[index]


@pytest.mark.parametrize(
    "part",
    [slice(1, 3), slice(None, None, -2), slice(-2, None), slice(3, 99), slice(4, 1)],
    ids=str,
)
def test_a_slice_gives_what_a_tuple_gives(part: slice) -> None:
    assert GENERATED[part] == STORED[part]


@pytest.mark.parametrize("index", [COUNT, -COUNT - 1])
def test_an_index_outside_is_an_error_as_for_a_tuple(index: int) -> None:
    with pytest.raises(IndexError):
        GENERATED[index]


def test_iteration_and_length_are_those_of_a_tuple() -> None:
    assert len(GENERATED) == COUNT
    assert tuple(GENERATED) == STORED
    assert tuple(reversed(GENERATED)) == STORED[::-1]


def test_equality_is_by_content() -> None:
    generated = GeneratedExamples(COUNT, example)
    assert generated == STORED
    assert generated == GENERATED
    assert generated != STORED[:-1]
    assert generated != (*STORED[:-1], STORED[0])
    assert generated != 5
    with pytest.raises(TypeError, match="unhashable"):
        hash(GENERATED)


def test_examples_are_made_on_access_and_no_others() -> None:
    numbers: list[int] = []

    def make(number: int) -> Example:
        numbers.append(number)
        return example(number)

    many = GeneratedExamples(10**9, make)
    assert len(many) == 10**9
    assert numbers == []
    assert many[10**9 - 1].example_id == f"test/{10**9 - 1}"
    assert [chosen.example_id for chosen in many[2:4]] == ["test/2", "test/3"]
    assert next(iter(many)).example_id == "test/0"
    assert numbers == [10**9 - 1, 2, 3, 0]
