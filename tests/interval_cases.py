"""Values on which intervals go wrong, and what every interval must satisfy."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

# Equal values, holes, extremes and skewed values are likely: there intervals go wrong.
SHARE = st.one_of(st.just(math.nan), st.sampled_from([0.0, 0.1, 1 / 3, 0.7, 1.0]), st.floats(0, 1))


def is_sound(estimate: float, low: float, high: float, *, least: float, most: float) -> bool:
    if math.isnan(low) and math.isnan(high):
        return True
    return least <= low <= estimate <= high <= most


def matrix(data: st.DataObject, rows: int, columns: int) -> np.ndarray:
    size = rows * columns
    return np.array(data.draw(st.lists(SHARE, min_size=size, max_size=size))).reshape(rows, columns)
