"""Which columns hold texts: pairs are inferred from names, others from the first rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

LONG = 4  # mean number of words from which a column counts as texts
_NUMBERED = re.compile(
    r"(?P<base>(?:sentence|text|question|document|passage|review|sequence|input|string|s)[_ ]?)"
    r"(?P<number>[1a])",
    re.IGNORECASE,
)
_SECOND = {"1": "2", "a": "b", "A": "B"}
# Characters of scripts that are written without blanks.
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")


def numbered_pairs(columns: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs such as sentence1 and sentence2, or text_a and text_b."""
    pairs = []
    for first in columns:
        if match := _NUMBERED.fullmatch(first):
            second = match["base"] + _SECOND[match["number"]]
            if second in columns:
                pairs.append((first, second))
    return pairs


def text_columns(rows: Sequence[Mapping[str, Any]], columns: Iterable[str]) -> list[str]:
    """The columns whose values are strings of at least `LONG` words on average."""
    return [column for column in columns if _mean_words(row.get(column) for row in rows) >= LONG]


def _mean_words(values: Iterable[Any]) -> float:
    counts = [_words(value) for value in values if isinstance(value, str) and value.strip()]
    return sum(counts) / len(counts) if counts else 0.0


def _words(text: str) -> float:
    return max(len(text.split()), len(_IDEOGRAPHS.findall(text)) / 2)
