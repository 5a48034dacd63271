"""The published numbers as csv files, named after paper and table; the first line is the source.

Datasets, parts and measures are named as everywhere in attnaudit, bAbI as `babi:task=N`. `value`
is the number as printed, `sd` its standard deviation over texts, `other` the same number in another
version of the paper. Empty: not published.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import pandas as pd


@cache
def published(name: str) -> pd.DataFrame:
    """A published table, by the name of its file.

    Examples
    --------
    >>> len(published("meister_2021_table6"))
    48
    """
    with (files(__name__) / f"{name}.csv").open(encoding="utf-8") as stream:
        return pd.read_csv(stream, comment="#", dtype={"predicted_class": str}).fillna(
            {"encoder": ""}
        )


@cache
def source(name: str) -> str:
    """Where the numbers of a table are from, in words.

    Examples
    --------
    >>> source("meister_2021_table3")
    'Meister et al. 2021, table 3.'
    """
    first = (files(__name__) / f"{name}.csv").read_text(encoding="utf-8").splitlines()[0]
    return first.removeprefix("# ")
