"""The result of a corpus audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd


@dataclass(frozen=True)
class CorpusFindings:
    """The result of a corpus audit.

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

    def __str__(self) -> str:
        return "\n".join(
            [
                self.question,
                self.summary.to_string(index=False, float_format="{:.3f}".format),
                "",
                self.detail.to_string(index=False, float_format="{:.3f}".format, max_rows=20),
            ]
        )
