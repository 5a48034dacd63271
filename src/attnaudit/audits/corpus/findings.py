"""What a corpus audit found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd


@dataclass(frozen=True)
class CorpusFindings:
    """summary: one line a metric (metric, value, low, high, floor, ceiling). detail: the numbers behind it."""

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
