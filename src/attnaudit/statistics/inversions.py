"""How many pairs of a list are reversed: what Kendall's tau is made of.

In NumPy and on the CPU, where sorting numbers and comparing short integers is many times as fast as
in torch.
"""

from __future__ import annotations

import numpy as np

_SHORT = 32  # items of a list of which every pair is compared


def inversions(listed: np.ndarray) -> np.ndarray:
    """How many pairs of numbers are reversed in lists (B,N) of int16 or int32 from 0 on: (B,).

    Long lists are divided into short ones, which are counted and then merged two by two: numbers of
    the second list have passed those of the first that come after them when both are sorted.

    Examples
    --------
    >>> inversions(np.array([[0, 1, 2], [2, 0, 1], [2, 1, 0], [1, 1, 0]], dtype=np.int16))
    array([0, 2, 3, 2])
    """
    rows, items = listed.shape
    if not listed.size:
        return np.zeros(rows, np.int64)
    merges = ((items - 1) // _SHORT).bit_length()
    short = -(-items >> merges)
    # Behind the last number the largest one, which is not reversed.
    lists = np.full((rows, short << merges), listed.max(initial=0), listed.dtype)
    lists[:, :items] = listed
    count = _compared(lists.reshape(-1, short)).reshape(rows, -1).sum(-1)
    lists = lists.astype(np.int32)
    for half in (short << merge for merge in range(merges)):
        lists = lists.reshape(-1, 2 * half)
        place = np.arange(2 * half)
        lists <<= 1
        lists[:, half:] |= 1  # of the second list; of equal numbers, those of the first come first
        lists.sort(-1)
        passed = place[half:].sum() - (lists & 1) @ place
        lists >>= 1
        count += passed.reshape(rows, -1).sum(-1)
    return count


def _compared(listed: np.ndarray) -> np.ndarray:
    """How many pairs are reversed in lists (B,N) of at most 256 items, by comparing each: (B,)."""
    by_place = np.ascontiguousarray(listed.T)
    count = np.zeros(by_place.shape, np.uint8)
    above = np.empty(by_place.shape, bool)
    for apart in range(1, len(by_place)):
        np.greater(by_place[:-apart], by_place[apart:], out=above[apart:])
        count[apart:] += above[apart:]
    return count.sum(0, dtype=np.int64)


def reversed_in_table(first: np.ndarray, second: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """How many pairs of items differ in both numbers (B,N), in opposite ways: (B,).

    For numbers below those in `shape`, by a table of so many cells per list.
    """
    rows, cells = len(first), shape[0] * shape[1]
    cell = first * shape[1] + second + np.arange(rows)[:, None] * cells
    table = np.bincount(cell.ravel(), minlength=rows * cells).reshape(rows, *shape)
    lower = table.cumsum(1) - table  # in the first number
    higher = lower.sum(2, keepdims=True) - lower.cumsum(2)  # and higher in the second
    return (table * higher).sum((1, 2))
