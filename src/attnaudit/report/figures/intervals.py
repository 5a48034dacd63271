"""Stored intervals as error bars."""

from __future__ import annotations

import numpy as np
import pandas as pd


def bars(frame: pd.DataFrame, column: str) -> np.ndarray:
    """(2, lines): distances of column_low and column_high from the column."""
    ends = [frame[column] - frame[f"{column}_low"], frame[f"{column}_high"] - frame[column]]
    return np.clip(np.array(ends, dtype=float), 0, None)
