"""Rankings with drawn ties, next to those with a number drawn for every item."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnaudit.core import masking, randomness, ranking
from other_device import DEVICE, other_device

SCORES = st.sampled_from([-math.inf, -1.0, -0.0, 0.0, 0.5, 2.0, math.inf])


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data(), st.integers(0, 4), st.integers(1, 3), st.integers(1, 6))
def test_numbers_are_drawn_where_needed_only_and_the_order_is_the_same(
    data: st.DataObject, examples: int, rankings: int, items: int
) -> None:
    count = examples * rankings * items
    drawn = data.draw(st.lists(SCORES, min_size=count, max_size=count))
    scores = torch.tensor(drawn).double().view(examples, rankings, items)
    bits = data.draw(st.lists(st.booleans(), min_size=examples * items, max_size=examples * items))
    mask = torch.tensor(bits, dtype=torch.bool).view(examples, items)
    ids = [f"text/{index}" for index in range(examples)]
    numbers = randomness.uniform(randomness.keys(5, "ties", ids), items)
    expected = masking.descending(scores, mask[:, None], numbers[:, None])
    assert torch.equal(ranking.descending(scores, mask, 5, "ties", ids), expected)


def test_no_number_is_drawn_without_ties(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = torch.tensor([[[1.0, 3.0, 2.0, 0.0, 0.0]], [[1.0, 1.0, 2.0, 0.0, 5.0]]])
    mask = torch.tensor([[True, True, True, False, False], [True] * 5])
    asked = []
    keys = randomness.keys
    monkeypatch.setattr(randomness, "keys", lambda *given: asked.append(given[2]) or keys(*given))
    order = ranking.descending(scores, mask, 0, "ties", ["a", "b"])
    assert asked == [["b"]]
    assert order[0].tolist() == [[1, 2, 0, 3, 4]]


def test_on_another_device_the_order_is_the_same() -> None:
    scores = torch.randint(4, (6, 2, 9), generator=torch.Generator().manual_seed(0)).double()
    mask = torch.arange(9) < torch.tensor([9, 5, 1, 0, 7, 9])[:, None]
    ids = list("abcdef")
    expected = ranking.descending(scores, mask, 1, "ties", ids).tolist()
    with other_device():
        found = ranking.descending(scores.to(DEVICE), mask.to(DEVICE), 1, "ties", ids)
        assert found.tolist() == expected
