"""The numbers of a card as one flat dict, for experiment trackers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from attnaudit.results.card import Card
from attnaudit.results.questions import NO, PARTLY, UNKNOWN, YES, Question

# An answer as a number; trackers keep numbers only.
_ANSWERS = {YES: 1.0, PARTLY: 0.5, NO: 0.0, UNKNOWN: math.nan}
_OF_EXPLANATION = (
    *("place", "comprehensiveness", "sufficiency", "polarity", "stability"),
    *("agreement", "plausibility", "passed", "seconds"),
)


def flat_metrics(
    card: Card, about: Mapping[str, Any], ranking: Sequence[Mapping[str, Any]]
) -> dict[str, float]:
    """Name -> number; NaN is what is unknown, and `unknown` counts it.

    Parameters
    ----------
    card : of the results.
    about : what is stored about them.
    ranking : of the explanations, if they were compared.
    """
    numbers: dict[str, float] = {"verdict": _ANSWERS[card.decision]}
    for answer in card.answers:
        question = Question.find(answer.question)
        if question is not None:
            numbers[f"answer/{question.key}"] = _ANSWERS[answer.answer]
        for finding in answer.findings:
            name = _name(finding.name)
            # Not "/": MLflow keeps a metric as a file, which cannot be a folder of others.
            numbers[name] = finding.value
            for ending in ("low", "high", "relative"):
                numbers[f"{name}.{ending}"] = getattr(finding, ending)
    accuracy = about.get("accuracy") or {}
    numbers["accuracy"] = _number(accuracy.get("mean"))
    for row in ranking:
        for key in _OF_EXPLANATION:
            numbers[f"explanation/{_name(row['explanation'])}/{key}"] = _number(row.get(key))
    numbers["unknown"] = sum(math.isnan(value) for value in numbers.values())
    return {name: float(value) for name, value in numbers.items()}


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _name(name: str) -> str:
    """With the characters that MLflow and W&B both allow: letters, digits, _ - . / and spaces."""
    allowed = "_-./ "
    return "".join(each if each.isalnum() or each in allowed else "_" for each in name)
