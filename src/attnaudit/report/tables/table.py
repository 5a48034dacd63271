"""A table twice: every number as it is stored, for programs, and as a paper prints it, for readers."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from attnaudit.results import number_formats


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
    """A number as paper tables print it, with a true minus sign."""
    return number_formats.number(value, digits, typographic=True)


def with_interval(
    mean: float | None, low: float | None, high: float | None, digits: int = 3
) -> str:
    """A mean with its interval as paper tables print it."""
    return number_formats.with_interval(mean, low, high, digits, typographic=True)


def percent(share: float | None) -> str:
    """A share as paper tables print it: "0 %" means none at all."""
    return number_formats.percent(share, show_small=True)
