"""How numbers, shares and intervals are printed, on the card, the page and in tables."""

from __future__ import annotations

import math
from typing import Any

NO_INTERVAL = "no interval"
TOO_FEW = "too few different values"  # the usual reason: fewer than ten, or all equal
MISSING = "–"


def is_missing(value: Any) -> bool:
    """Whether a value is NaN, or None as JSON stores it."""
    return value is None or math.isnan(value)


def number(value: float | None, digits: int = 3, *, typographic: bool = False) -> str:
    """A rounded number, never "-0.00"; a dash if it is missing.

    Parameters
    ----------
    value : None or NaN if there is none.
    digits : decimals.
    typographic : print a true minus sign, as paper tables do.

    Examples
    --------
    >>> number(-0.1264, 2), number(-0.001, 2), number(None)
    ('-0.13', '0.00', '–')
    """
    if value is None or is_missing(value):
        return MISSING
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        return text.lstrip("-")
    return text.replace("-", "−") if typographic else text


def probability(value: float | None, digits: int = 2) -> str:
    """A rounded probability; one that would be rounded to 0 is said to be under the next step.

    Parameters
    ----------
    value : between 0 and 1; None or NaN if there is none.
    digits : decimals.

    Examples
    --------
    >>> probability(0.134), probability(0.0007), probability(0.0)
    ('0.13', 'under 0.01', '0.00')
    """
    text = number(value, digits)
    if text != MISSING and value and float(text) == 0:
        return f"under {10.0**-digits:.{digits}f}"
    return text


def percent(share: float | None, *, show_small: bool = False) -> str:
    """A share in whole per cent; a dash if it is missing.

    Parameters
    ----------
    share : between 0 and 1; None or NaN if there is none.
    show_small : one decimal below 10 %, so that "0 %" means none at all.

    Examples
    --------
    >>> percent(0.638), percent(0.003), percent(0.003, show_small=True)
    ('64 %', '0 %', '0.3 %')
    """
    if share is None or is_missing(share):
        return MISSING
    digits = 1 if show_small and 0 < share < 0.1 else 0
    return f"{100 * share:.{digits}f} %"


def with_interval(
    mean: float | None,
    low: float | None,
    high: float | None,
    digits: int = 3,
    *,
    typographic: bool = False,
    why_not: str = TOO_FEW,
    is_probability: bool = False,
) -> str:
    """A mean with its interval, or with the reason why it has none.

    Parameters
    ----------
    mean, low, high : None or NaN if there is none.
    digits, typographic : as for `number`.
    why_not : the reason to print if there is no interval.
    is_probability : print values near 0 as `probability` does.

    Examples
    --------
    >>> with_interval(0.5, 0.41, 0.59, 2)
    '0.50 [0.41, 0.59]'
    >>> with_interval(0.5, None, None, 2)
    '0.50, no interval (too few different values)'
    """
    if is_missing(mean):
        return MISSING
    shown, *ends = (
        probability(value, digits)
        if is_probability
        else number(value, digits, typographic=typographic)
        for value in (mean, low, high)
    )
    if is_missing(low) or is_missing(high):
        return f"{shown}, {NO_INTERVAL} ({why_not})"
    return f"{shown} [{ends[0]}, {ends[1]}]"
