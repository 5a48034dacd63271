"""A release gate: conditions on a card or its numbers, written as text for a command line."""

from __future__ import annotations

import math
import operator
import re
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.results.card import Card
from attnaudit.results.gate_reports import Outcome
from attnaudit.results.questions import ANSWERS, Question
from attnaudit.results.results import Results

VERDICT = "verdict"  # stands for the card's decision
_KEYS = (VERDICT, *(question.key for question in Question))
_OPERATORS: dict[str, Any] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
# The last sign divides: an audit may have options, as in "furthest:epsilon=0.05/jsd>0.3".
_CONDITION = re.compile(r"(.+?)\s*(<=|>=|!=|<|>|=)\s*([^<>=!]+)")


def check_conditions(text: str) -> list[tuple[str, str, str]]:
    """Parse conditions, and reject those that mean nothing.

    Parameters
    ----------
    text : conditions separated by ";", each QUESTION=ANSWER or AUDIT/METRIC[@MEASURE]<NUMBER.

    Returns
    -------
    (subject, sign, value) of each condition.

    Examples
    --------
    >>> check_conditions("matters=no; permutation/tvd_median<0.05")
    [('matters', '=', 'no'), ('permutation/tvd_median', '<', '0.05')]
    """
    conditions = []
    for part in filter(None, (condition.strip() for condition in text.split(";"))):
        match = _CONDITION.fullmatch(part)
        if match is None:
            raise InputError(
                f"Cannot read the condition {part!r}. Write QUESTION=ANSWER or "
                "AUDIT/METRIC[@MEASURE]<NUMBER, and separate several conditions with ;"
            )
        subject, sign, value = match.groups()
        if "/" in subject:
            if not _is_finite(value):
                raise InputError(
                    f"The condition {part!r} compares with {value!r}, which is not a number."
                )
        elif subject not in _KEYS or sign not in ("=", "!=") or value not in ANSWERS:
            raise InputError(
                f"Cannot read the condition {part!r}: a question is one of {', '.join(_KEYS)}, "
                f"with = or != and one of {', '.join(ANSWERS)}."
            )
        conditions.append((subject, sign, value))
    if not conditions:
        raise InputError("There is no condition to fail on.")
    return conditions


def conditions_met(results: Results, text: str) -> list[str]:
    """The conditions that hold, each with the answer or number it was compared with.

    A number that is NaN for every example meets every condition on it, so that it closes the gate.

    Parameters
    ----------
    results : of an audit.
    text : conditions, as for `check_conditions`.

    Returns
    -------
    One text per condition that holds; empty if the gate is open.

    Raises
    ------
    InputError
        If a condition is about a question or a number that these results do not have.

    Examples
    --------
    >>> import attnaudit
    >>> from attnaudit.models.glass import Glass, glass_batch
    >>> results = attnaudit.audit(Glass("inert"), glass_batch(), show_progress=False)
    >>> conditions_met(results, "matters=no; points=no")
    ["matters=no: the card says 'no'"]
    """
    return [
        f"{outcome.condition}: {outcome.found}"
        for outcome in condition_outcomes(results, text)
        if outcome.holds
    ]


def condition_outcomes(results: Results, text: str) -> list[Outcome]:
    """What was found for every condition, and whether it holds; as for `conditions_met`."""
    card = results.card()
    outcomes = []
    for subject, sign, value in check_conditions(text):
        condition = f"{subject}{sign}{value}"
        if "/" not in subject:
            answer = card.decision if subject == VERDICT else _answer(card, subject)
            holds = _OPERATORS[sign](answer, value)
            outcomes.append(Outcome(condition, f"the card says {answer!r}", holds))
            continue
        mean = _mean(results, subject)
        if math.isnan(mean):
            outcomes.append(Outcome(condition, "it is undefined for every example", True))
        else:
            holds = _OPERATORS[sign](mean, float(value))
            outcomes.append(Outcome(condition, f"it is {mean:.4g}", holds))
    return outcomes


def _is_finite(text: str) -> bool:
    """Nothing is ever below NaN: a gate on it would always be open."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _answer(card: Card, key: str) -> str:
    try:
        return card[key].answer
    except KeyError:
        known = ", ".join(
            question.key for answer in card.answers if (question := Question.find(answer.question))
        )
        raise InputError(
            f"The card of these results does not answer {key!r}; it answers {known}. A question "
            "is left out if the data or an earlier version cannot answer it."
        ) from None


def _mean(results: Results, name: str) -> float:
    """The overall mean of "audit/metric" or "audit/metric@measure"; over rows if several."""
    audit, _, rest = name.rpartition("/")
    metric, _, measure = rest.partition("@")
    if results.line(audit, metric, measure) is None:
        audits = ", ".join(map(str, results.about.get("audits", []))) or "none"
        raise InputError(
            f"These results have no number {name!r}. Check the spelling (AUDIT/METRIC or "
            f"AUDIT/METRIC@MEASURE), or run the audit; the audits run were: {audits}."
        )
    return results.mean(audit, metric, measure)
