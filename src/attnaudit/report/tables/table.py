"""A table in two forms: numbers as they are stored, and texts as a paper prints them."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from attnaudit.results import number_formats
from attnaudit.results.number_formats import is_missing


@dataclass(frozen=True, eq=False)
class PaperTable:
    """A table for a paper.

    Parameters
    ----------
    numbers
        One column per number, nothing rounded.
    printed
        Texts only, with as many lines as `numbers` or fewer.
    words
        How many columns of `printed`, from the left, are words.
    caption
        What it shows, in one sentence.
    heads
        One per column of `printed`, spanning the columns that share it.
    """

    numbers: pd.DataFrame
    printed: pd.DataFrame
    words: int
    caption: str
    heads: tuple[str, ...] = ()


def number(value: float | None, digits: int = 3) -> str:
    """A rounded number with a true minus, a dash if it is missing; never -0.000.

    Examples
    --------
    >>> number(-0.1234), number(None)
    ('−0.123', '–')
    """
    if is_missing(value):
        return "–"
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def with_interval(
    mean: float | None, low: float | None, high: float | None, digits: int = 3
) -> str:
    """ "0.500 [0.410, 0.590]"; a dash if the mean is missing."""
    if is_missing(mean):
        return "–"
    return number_formats.with_interval(
        number(mean, digits), low, high, lambda end: number(end, digits)
    )


def percent(share: float | None) -> str:
    """A share in per cent; "0 %" means none at all."""
    if share is None or is_missing(share):
        return "–"
    return f"{100 * share:.1f} %" if 0 < share < 0.1 else f"{100 * share:.0f} %"
