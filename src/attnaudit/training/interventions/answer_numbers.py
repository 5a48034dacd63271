"""The numbers in the answers of interventions: read from a summary, and put in words."""

from __future__ import annotations

import math

import pandas as pd

from attnaudit.results.number_formats import number, with_interval


def held_and_other(summary: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """The line of the model with a frozen part, and that of the other seed."""
    lines = {str(line["model"]): line for _, line in summary.iterrows()}
    return lines["held"], lines["other seed"]


def accuracy_of(
    summary: pd.DataFrame, column: str = "difference"
) -> tuple[float, float, float] | None:
    """(difference, low, high) of the line of accuracy, if all are known."""
    line = summary[summary["metric"] == "accuracy"].iloc[0]
    numbers = tuple(float(line[name]) for name in (column, "low", "high"))
    return (
        None
        if any(math.isnan(value) for value in numbers)
        else (numbers[0], numbers[1], numbers[2])
    )


def with_ends(line: pd.Series, name: str) -> tuple[float, float, float]:
    """A number of a line with the ends of its interval."""
    return float(line[name]), float(line[f"{name}_low"]), float(line[f"{name}_high"])


def is_known(line: pd.Series, *names: str) -> bool:
    """Whether all these numbers and the ends of their intervals are known."""
    return not any(math.isnan(value) for name in names for value in with_ends(line, name))


def in_words(line: pd.Series, name: str, unit: str = "") -> str:
    """A number with its interval and unit, such as "JSD 0.12 [0.10, 0.14]"."""
    return f"{unit} {with_interval(*with_ends(line, name), 2)}".lstrip()


def lost_in_words(lost: float, low: float, high: float) -> str:
    """A loss of accuracy in words, or a gain if it is negative."""
    if round(100 * lost, 1) >= 0:
        verb, shown = "loses", (lost, low, high)
    else:
        verb, shown = "gains", (-lost, -high, -low)
    points = [number(100 * share, 1) for share in shown]
    return f"{verb} {points[0]} points of accuracy [{points[1]}, {points[2]}]"
