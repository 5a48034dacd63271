"""Was a published number reproduced? The rule, for every number of every paper.

Ours is a mean over trainings, with a 95 % interval (t) over them. A published number is one
training, or one mean, of its authors, and is printed with few digits. With three trainings or more
it is *reproduced* if it lies in our interval widened on both sides by its own spread, and otherwise
*differs*. The spread is, as far as it was published,

- the difference between two versions of the same number (Jain & Wallace 2019, table 2),
- the noise between trainings that the paper states (Wen et al. 2022),
- the standard error of the mean over texts, its standard deviation over texts / sqrt(texts),

and half a unit of the last printed digit. A claim in words has a range in which it puts a number;
it is reproduced if our whole interval is in the range, and differs if none of it is.
"""

from __future__ import annotations

import math
from enum import StrEnum

FEWEST = 3  # trainings for a verdict


class Verdict(StrEnum):
    """What became of a published number."""

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    NONE = "no verdict"
    IMPOSSIBLE = "not possible here"
    UNPUBLISHED = ""


def spread_of(
    value: float, other: float, sd: float, texts: int, *, stated: float, digits: int
) -> float:
    """By how much a published number is uncertain, as far as it was published.

    Parameters
    ----------
    value, other : in two versions; `other` is NaN without a second.
    sd, texts : standard deviation over texts, NaN if it was not published, and their number.
    stated : noise between trainings that the paper states, 0 if it states none.
    digits : decimals that were printed.

    Examples
    --------
    >>> round(spread_of(0.34, 0.40, math.nan, 1725, stated=0.0, digits=2), 3)
    0.065
    """
    rounding = 0.5 * 10**-digits
    if not math.isnan(other):
        return abs(value - other) + rounding
    if stated:
        return stated + rounding
    if not math.isnan(sd) and texts > 0:
        return sd / math.sqrt(texts) + rounding
    return rounding


def judge(
    published: float, low: float, high: float, trainings: int, spread: float
) -> tuple[Verdict, str]:
    """The verdict on a published number, and the reason if there is none.

    Parameters
    ----------
    low, high : of our interval over trainings.
    trainings : that have the number.

    Examples
    --------
    >>> judge(0.40, 0.30, 0.36, 3, 0.06)[0].value, judge(0.50, 0.30, 0.36, 3, 0.06)[0].value
    ('reproduced', 'differs')
    """
    if math.isnan(published):
        return Verdict.UNPUBLISHED, ""
    if trainings < FEWEST:
        return Verdict.NONE, f"{trainings} of the {FEWEST} trainings that a verdict needs"
    inside = low - spread <= published <= high + spread
    return (Verdict.REPRODUCED if inside else Verdict.DIFFERS), ""


def judge_claim(
    claim: tuple[float, float], low: float, high: float, trainings: int
) -> tuple[Verdict, str]:
    """The verdict on a claim that puts a number into a range.

    Examples
    --------
    >>> judge_claim((0.0, math.inf), 0.1, 0.2, 3)[0].value
    'reproduced'
    >>> judge_claim((0.0, math.inf), -0.1, 0.2, 3)
    (<Verdict.NONE: 'no verdict'>, 'our interval is partly in the claimed range')
    """
    if trainings < FEWEST:
        return Verdict.NONE, f"{trainings} of the {FEWEST} trainings that a verdict needs"
    if low >= claim[0] and high <= claim[1]:
        return Verdict.REPRODUCED, ""
    if high < claim[0] or low > claim[1]:
        return Verdict.DIFFERS, ""
    return Verdict.NONE, "our interval is partly in the claimed range"
