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


_WORDS = {
    Kind.STUDENTISED: "studentised bootstrap",
    Kind.RATE: "rate (Wilson)",
    Kind.SIGNED_RATE: "difference of rates (Bonett and Price)",
    Kind.EQUAL: "all values are equal (Wilson, on the scale)",
    Kind.F1: "linearised difference",
    Kind.DELONG: "DeLong",
    Kind.PLACES: "almost all at the same place (Wilson, between floor and ceiling)",
    Kind.NO_VALUE: "no value",
    Kind.FEW: f"fewer than {FEW} values",
    Kind.EQUAL_UNBOUNDED: "all values are equal and their scale is unknown",
    Kind.FEW_DIFFERENT: "too few different values",
    Kind.NARROW: "almost equal values (Wilson, on the scale)",
    Kind.NO_ROOM: "floor and ceiling are too close to each other for these examples",
    Kind.SAME_PLACE: "at the same place between floor and ceiling in every text",
}


def describe_interval(kind: int) -> str:
    """How an interval was made, or "withheld: " and the reason.

    Examples
    --------
    >>> describe_interval(Kind.RATE)
    'rate (Wilson)'
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
