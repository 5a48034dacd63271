"""A mean with its interval, in words."""

from __future__ import annotations

import math
from typing import Any

NO_INTERVAL = "no interval (one example)"


def is_missing(value: Any) -> bool:
    """NaN, or None as JSON keeps it."""
    return value is None or math.isnan(value)


def with_interval(mean: str, low: Any, high: Any, number: Any) -> str:
    """ "0.50 [0.41, 0.59]"; a single example has a mean and no interval. number: how low and high are printed."""
    if is_missing(low) or is_missing(high):
        return f"{mean}, {NO_INTERVAL}"
    return f"{mean} [{number(low)}, {number(high)}]"
