"""Reversed pairs by comparing and merging, and in a table, against a double loop."""

from __future__ import annotations

import numpy as np
import pytest

from attnaudit.statistics.inversions import inversions, reversed_in_table


def looped(first: np.ndarray, second: np.ndarray) -> list[int]:
    """Pairs of items that differ in both numbers, in opposite ways."""
    return [
        int(np.sum((a[:, None] < a[None]) & (b[:, None] > b[None])))
        for a, b in zip(first, second, strict=True)
    ]


# Around the length from which lists are merged, 32, and its multiples by powers of 2.
@pytest.mark.parametrize("items", [0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 100, 129, 700])
@pytest.mark.parametrize("kind", ["permutation", "tied", "equal", "ascending", "descending"])
def test_inversions_are_those_of_a_double_loop(items: int, kind: str) -> None:
    draw = np.random.default_rng(items)
    listed = {
        "permutation": draw.random((6, items)).argsort(-1),
        "tied": draw.integers(0, 1 + items // 4, (6, items)),
        "equal": np.full((6, items), 7),
        "ascending": np.broadcast_to(np.arange(items), (6, items)),
        "descending": np.broadcast_to(np.arange(items)[::-1], (6, items)),
    }[kind]
    place = np.broadcast_to(np.arange(items), listed.shape)
    for dtype in (np.int16, np.int32):
        assert inversions(listed.astype(dtype)).tolist() == looped(place, listed)


def test_inversions_of_a_long_list_backwards_are_all_pairs() -> None:
    items = 70_001
    assert inversions(np.arange(items, dtype=np.int32)[None, ::-1]) == items * (items - 1) // 2


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (3, 4), (9, 2)])
def test_table_counts_are_those_of_a_double_loop(shape: tuple[int, int]) -> None:
    draw = np.random.default_rng(0)
    first, second = (draw.integers(0, size, (6, 50)) for size in shape)
    assert reversed_in_table(first, second, shape).tolist() == looped(first, second)
