"""Random scores with ties and masked garbage, and comparisons, for the tests of statistics."""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy import stats

GARBAGE = torch.tensor([torch.nan, torch.inf, -torch.inf, 1e30, -7.0])


LEVELS = (0, 2, 3, 6, 25)  # 0: no ties; else the number of different scores


def scores(source, rows, width, levels):
    drawn = torch.randn(rows, width, generator=source, dtype=torch.float64)
    return (drawn * levels / 4).round() if levels else drawn


def batch(seed, lengths, levels=0, width=None):
    """x, y, mask with lengths[i] real items at random places in row i, garbage elsewhere."""
    source = torch.Generator().manual_seed(seed)
    rows, width = len(lengths), width or max(lengths) + 3
    place = torch.rand(rows, width, generator=source).argsort(-1).argsort(-1)
    mask = place < torch.tensor(lengths)[:, None]
    garbage = [
        GARBAGE[torch.randint(5, (rows, width), generator=source)].double() for _ in range(2)
    ]
    x, y = (torch.where(mask, scores(source, rows, width, levels), each) for each in garbage)
    return x, y, mask


def rows_of(*tensors_and_mask):
    """The real items of each row, as NumPy arrays."""
    *tensors, mask = tensors_and_mask
    for *each, real in zip(*tensors, mask, strict=True):
        yield tuple(one[real].numpy() for one in each)


def whole(*rows):
    """Lists as one tensor with a full mask."""
    x = torch.from_numpy(np.array(rows, dtype=np.float64))
    return x, torch.ones_like(x, dtype=torch.bool)


def same(got, expected, tolerance=1e-10):
    torch.testing.assert_close(
        got, torch.as_tensor(expected, dtype=torch.float64), rtol=0, atol=tolerance, equal_nan=True
    )


def scipy_kendall(x, y):
    return tuple(stats.kendalltau(x, y)) if len(x) > 1 else (math.nan, math.nan)
