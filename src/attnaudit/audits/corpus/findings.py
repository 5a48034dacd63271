"""The result of a corpus audit."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd


class CorpusFindings(NamedTuple):
    """The numbers of a corpus audit; `attnaudit.results.Findings` prints and stores them.

    Parameters
    ----------
    name, question : str
        Of the audit.
    summary : DataFrame
        One line per metric: metric, value, low, high, floor, ceiling.
    detail : DataFrame
        The numbers behind it.
    notes : dict
        The options it was run with.
    """

    name: str
    question: str
    summary: pd.DataFrame
    detail: pd.DataFrame
    notes: dict[str, Any]
