"""A release gate: conditions on a card or its numbers, in words a command line can carry, and whether any is met."""

from __future__ import annotations

import operator
import re
from typing import Any

from attnaudit.card import NO, PARTLY, UNKNOWN, YES
from attnaudit.errors import InputError
from attnaudit.results import Results

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
_CONDITION = re.compile(r"(.+?)\s*(<=|>=|!=|<|>|=)\s*(.+)")


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
            try:
                float(value)
            except ValueError:
                raise InputError(
                    f"The condition {part!r} compares with {value!r}, which is no number."
                ) from None
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
        if mean is None or mean != mean:
            held.append(f"{what}{sign}{value}: there is no such number here")
        elif _SIGNS[sign](mean, float(value)):
            held.append(f"{what}{sign}{value}: it is {mean:.4g}")
    return held


def _mean(results: Results, what: str) -> float | None:
    """The overall mean of "audit/metric" or "audit/metric@measure"; over all rows where there are several."""
    audit, _, rest = what.partition("/")
    metric, _, measure = rest.partition("@")
    part = results.summary()
    part = part[(part["audit"] == audit) & (part["metric"] == metric) & (part["measure"] == measure)]
    return float(part.sort_values("row")["mean"].iloc[0]) if len(part) else None
