"""A release gate: conditions on a card or its numbers, in words a command line can carry, and whether any is met."""

from __future__ import annotations

import math
import operator
import re
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.results.card import NO, PARTLY, UNKNOWN, YES
from attnaudit.results.results import Results

# Short names of the five questions.
QUESTIONS = {
    "needed": "needed?",
    "matters": "does it matter?",
    "points": "does it point at what matters?",
    "only_story": "is it the only story?",
    "stable": "is it stable?",
}
_ANSWERS = (YES, PARTLY, NO, UNKNOWN)
_SIGNS: dict[str, Any] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
# The last sign divides: an audit may have options, "furthest:epsilon=0.05/jsd>0.3".
_CONDITION = re.compile(r"(.+?)\s*(<=|>=|!=|<|>|=)\s*([^<>=!]+)")


def check_conditions(text: str) -> list[tuple[str, str, str]]:
    """(what, sign, value) of each condition in "matters=no; stable!=yes; permutation/tvd_median<0.05"; refused in words if unknown."""
    conditions = []
    for part in filter(None, (each.strip() for each in text.split(";"))):
        found = _CONDITION.fullmatch(part)
        if found is None:
            raise InputError(
                f"Cannot read the condition {part!r}. Write QUESTION=ANSWER or AUDIT/METRIC[@MEASURE]<NUMBER, several with ; between."
            )
        what, sign, value = found.groups()
        if "/" in what:
            if not _is_number(value):
                raise InputError(
                    f"The condition {part!r} compares with {value!r}, which is no number."
                )
        elif what not in QUESTIONS or sign not in ("=", "!=") or value not in _ANSWERS:
            raise InputError(
                f"Cannot read the condition {part!r}: a question is one of {', '.join(QUESTIONS)}, "
                f"with = or != and one of {', '.join(_ANSWERS)}."
            )
        conditions.append((what, sign, value))
    if not conditions:
        raise InputError("There is no condition to fail on.")
    return conditions


def met(results: Results, text: str) -> list[str]:
    """The conditions that hold, each with what was found. A number that is missing or NaN meets every condition on it: it cannot be vouched for."""
    card = results.card()
    held = []
    for what, sign, value in check_conditions(text):
        if "/" not in what:
            answer = card[QUESTIONS[what]].answer
            if _SIGNS[sign](answer, value):
                held.append(f"{what}{sign}{value}: the card says {answer!r}")
            continue
        mean = _mean(results, what)
        if math.isnan(mean):
            held.append(f"{what}{sign}{value}: there is no such number here")
        elif _SIGNS[sign](mean, float(value)):
            held.append(f"{what}{sign}{value}: it is {mean:.4g}")
    return held


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(
            float(text)
        )  # nothing is ever below nan: such a gate would always be open
    except ValueError:
        return False


def _mean(results: Results, what: str) -> float:
    """The overall mean of "audit/metric" or "audit/metric@measure"; over all rows where there are several."""
    audit, _, rest = what.rpartition("/")
    metric, _, measure = rest.partition("@")
    return results.mean(audit, metric, measure)
