"""The order of packed draws against the order of the random numbers themselves."""

from __future__ import annotations

import pytest
import torch

from attnaudit.audits.counterfactual import _order
from attnaudit.core import randomness


@pytest.mark.parametrize("width", [1, 7, 40, 512, 513, 700])
def test_packed_draws_have_the_order_of_the_uniform_numbers(width: int) -> None:
    key, place = randomness.keys(0, "order", ["a", "b", "c"])[:, None], torch.arange(width)
    bits, numbers = randomness.bits_at(key, place), randomness.uniform_at(key, place)
    assert torch.equal(bits.double() * 2.0**-53, numbers)
    assert torch.equal(_order(bits), numbers.argsort(dim=-1, stable=True))


def test_equal_and_largest_numbers_stay_in_place() -> None:
    most = 1 << 53
    draws = torch.tensor([[most, 5, most - 1, 5, most], [0, 0, most, most, most]])
    assert _order(draws).tolist() == [[1, 3, 2, 0, 4], [0, 1, 2, 3, 4]]
