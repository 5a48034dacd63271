"""The published tables as csv files, named after paper and table.

Datasets are named as in `attnaudit run --dataset`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import pandas as pd


@cache
def table(name: str) -> pd.DataFrame:
    """A published table, by the name of its file."""
    with (files(__name__) / f"{name}.csv").open(encoding="utf-8") as stream:
        return pd.read_csv(stream, dtype={"predicted_class": str})
