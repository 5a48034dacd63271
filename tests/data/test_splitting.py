"""Splits of examples: shares, stratification and errors."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from attnaudit.core.errors import InputError
from attnaudit.data.reading.splitting import divide
from attnaudit.data.splits import Example


def _examples(labels: list[int | None]) -> list[Example]:
    return [Example(f"train/{n}", (f"w{n}",), label=label) for n, label in enumerate(labels)]


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    labels=st.lists(st.integers(0, 2), min_size=12, max_size=60),
    share=st.floats(0.1, 0.9),
    seed=st.integers(0, 2**32 - 1),
    stratified=st.booleans(),
)
def test_division(labels: list[int | None], share: float, seed: int, stratified: bool) -> None:
    labels = [*labels, *[0, 1, 2] * 8]
    made = _examples(labels)
    rest, part = divide(made, share, seed=seed, stratified=stratified)
    assert sorted([*rest, *part], key=made.index) == made
    assert [*rest] == sorted(rest, key=made.index)
    assert [*part] == sorted(part, key=made.index)
    assert divide(made, share, seed=seed, stratified=stratified) == (rest, part)
    assert abs(len(part) - share * len(made)) < 1
    if stratified:
        counts = Counter(labels)
        for label, count in Counter(each.label for each in part).items():
            assert abs(count - len(part) * counts[label] / len(made)) <= 1
    theirs = train_test_split(
        made, test_size=share, random_state=seed, stratify=labels if stratified else None
    )
    assert [set(map(id, each)) for each in theirs] == [set(map(id, rest)), set(map(id, part))]


def test_all_or_nothing() -> None:
    made = _examples([0, 1])
    assert divide(made, 0, seed=0) == (tuple(made), ())
    assert divide(made, 1.0, seed=0) == ((), tuple(made))


@pytest.mark.parametrize("labels", [[], [0], [0, 1, 1, 1, 1]])
def test_what_cannot_be_divided_is_reported(labels: list[int | None]) -> None:
    with pytest.raises(InputError, match=rf"Cannot split off 20% of {len(labels)} examples"):
        divide(_examples(labels), 0.2, seed=0)


def test_examples_without_a_label_are_a_group_of_their_own() -> None:
    _, part = divide(_examples([None, 0, 1, None] * 5), 0.4, seed=0)
    assert Counter(each.label for each in part) == {None: 4, 0: 2, 1: 2}


@pytest.mark.parametrize("seed", [-1, "x", 2**40])
def test_a_seed_that_is_none_is_reported(seed: Any) -> None:
    with pytest.raises(InputError):
        divide(_examples([0, 1] * 5), 0.2, seed=seed)
