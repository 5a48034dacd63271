"""Sorting in place, against torch's own."""

from __future__ import annotations

import pytest
import torch

from attnaudit.core.sorting import order, sort_in_place
from other_device import DEVICE, other_device


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
@pytest.mark.parametrize("shape", [(7,), (3, 0), (0, 4), (2, 3, 50)])
def test_numbers_are_those_of_torch_in_the_same_memory(dtype, shape):
    values = (torch.randn(shape, generator=torch.Generator().manual_seed(0)) * 9).to(dtype)
    expected = values.sort(-1).values
    got = sort_in_place(values)
    assert got.data_ptr() == values.data_ptr()
    assert torch.equal(got, expected)


def test_nan_is_last_and_slices_are_sorted_alone():
    table = torch.tensor([[3.0, torch.nan, -torch.inf], [5.0, torch.inf, 4.0]])
    sort_in_place(table[:1])
    assert table[0, :2].tolist() == [-torch.inf, 3.0]
    assert table[0, 2].isnan()
    assert table[1].tolist() == [5.0, torch.inf, 4.0]


@pytest.mark.parametrize("shape", [(7,), (3, 0), (0, 4), (2, 3, 50)])
def test_the_order_is_that_of_torch_and_equal_values_keep_theirs(shape):
    values = torch.randint(-3, 4, shape, generator=torch.Generator().manual_seed(0)).double()
    values[values == 2] = torch.inf
    values[values == 3] = torch.nan
    expected = values.argsort(dim=-1, stable=True)
    assert torch.equal(order(values.requires_grad_()), expected)
    with other_device():
        assert order(values.detach().to(DEVICE)).tolist() == expected.tolist()
