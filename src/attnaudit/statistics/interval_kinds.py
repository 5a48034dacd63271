"""How an interval was made, or why it is withheld, in words."""

from __future__ import annotations

from enum import IntEnum

FEW = 10  # values; no method holds with fewer
FEW_WITH_SPREAD = 60  # values, below which they must lie in more than a small part of the scale
MIN_SPREAD = 0.1  # of the scale


class Kind(IntEnum):
    """The method of an interval; from NO_VALUE on, the reason for which it is withheld."""

    STUDENTISED = 0
    RATE = 1
    SIGNED_RATE = 2
    EQUAL = 3
    F1 = 4
    DELONG = 5
    PLACES = 6
    NARROW = 7
    NO_VALUE = 10
    FEW = 11
    EQUAL_UNBOUNDED = 12
    FEW_DIFFERENT = 13
    NO_ROOM = 15
    SAME_PLACE = 16


# Where an interval covers more than it claims, it says so: the table in docs/statistics.md.
_WORDS = {
    Kind.STUDENTISED: "studentised bootstrap (conservative if a few values are far from the rest)",
    Kind.RATE: "rate (Wilson; can be conservative below 50 values)",
    Kind.SIGNED_RATE: "difference of rates (Bonett and Price; conservative if few are not 0)",
    Kind.EQUAL: "all values are equal (Wilson, on the scale; conservative)",
    Kind.F1: "linearised difference (conservative if few decisions differ)",
    Kind.DELONG: "DeLong",
    Kind.PLACES: "almost all at the same place (Wilson, between floor and ceiling; conservative)",
    Kind.NO_VALUE: "no value",
    Kind.FEW: f"fewer than {FEW} values",
    Kind.EQUAL_UNBOUNDED: "all values are equal and their scale is unknown",
    Kind.FEW_DIFFERENT: "too few different values",
    Kind.NARROW: "almost equal values (Wilson, on the scale; conservative)",
    Kind.NO_ROOM: "floor and ceiling are too close to each other for these examples",
    Kind.SAME_PLACE: "at the same place between floor and ceiling in every text",
}


def describe_interval(kind: int) -> str:
    """How an interval was made, or "withheld: " and the reason.

    Examples
    --------
    >>> describe_interval(Kind.RATE)
    'rate (Wilson; can be conservative below 50 values)'
    >>> describe_interval(Kind.FEW)
    'withheld: fewer than 10 values'
    """
    reason = why_withheld(kind)
    return f"withheld: {reason}" if reason else _WORDS[Kind(kind)]


def why_withheld(kind: int) -> str:
    """Why an interval is withheld, in words; empty if it is not.

    Examples
    --------
    >>> why_withheld(Kind.FEW_DIFFERENT), why_withheld(Kind.STUDENTISED)
    ('too few different values', '')
    """
    return _WORDS[Kind(kind)] if kind >= Kind.NO_VALUE else ""
