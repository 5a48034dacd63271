"""A table in two forms: numbers as they are stored, and texts as a paper prints them."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from attnaudit.results import number_formats


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
    return number_formats.number(value, digits, typographic=True)


def with_interval(
    mean: float | None,
    low: float | None,
    high: float | None,
    digits: int = 3,
    *,
    why_not: str = number_formats.TOO_FEW,
) -> str:
    """A mean with its interval, or why it has none, as paper tables print it."""
    return number_formats.with_interval(mean, low, high, digits, typographic=True, why_not=why_not)


def percent(share: float | None) -> str:
    """A share as paper tables print it: "0 %" means none at all."""
    return number_formats.percent(share, show_small=True)
