"""A table twice: every number as it is stored, for programs, and as a paper prints it, for readers."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from attnaudit.results import number_formats
from attnaudit.results.number_formats import is_missing


@dataclass(frozen=True, eq=False)
class PaperTable:
    """numbers: one column a number, nothing rounded. printed: texts only, a line for each of numbers' or fewer; words: how many of its
    columns, from the left, are words. caption: what it shows, in a sentence. heads: one for each column of
    printed, spanning those that share it."""

    numbers: pd.DataFrame
    printed: pd.DataFrame
    words: int
    caption: str
    heads: tuple[str, ...] = ()


def number(value: float | None, digits: int = 3) -> str:
    """Rounded, with a true minus; a dash where there is none. Never -0.000."""
    if is_missing(value):
        return "–"
    told = f"{value:.{digits}f}"
    return told.lstrip("-") if float(told) == 0 else told.replace("-", "−")


def with_interval(
    mean: float | None, low: float | None, high: float | None, digits: int = 3
) -> str:
    if is_missing(mean):
        return "–"
    return number_formats.with_interval(
        number(mean, digits), low, high, lambda end: number(end, digits)
    )


def percent(share: float | None) -> str:
    """ "0 %" means none at all."""
    if share is None or is_missing(share):
        return "–"
    return f"{100 * share:.1f} %" if 0 < share < 0.1 else f"{100 * share:.0f} %"
