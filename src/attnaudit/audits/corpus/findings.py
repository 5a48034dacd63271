"""What a corpus audit returns."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd


class CorpusFindings(NamedTuple):
    """The numbers of a corpus audit; `attnaudit.results.Findings` prints and stores them.

    Attributes
    ----------
    name : of the corpus audit.
    question : what it asks.
    summary : one line per metric (metric, value, low, high, floor, ceiling).
    detail : the numbers behind it.
    notes : its settings.
    """

    name: str
    question: str
    summary: pd.DataFrame
    detail: pd.DataFrame
    notes: dict[str, Any]
