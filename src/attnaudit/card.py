"""The card: five questions, each answered from named audits, with interval, floor, ceiling and blind spot.

The rules are in card_rules.py and docs/card.md. Never one number without the others; "cannot tell" when what could see the failure did not run.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

YES, PARTLY, NO, UNKNOWN = "yes", "partly", "no", "cannot tell"

# The questions the verdict hangs on, by their place on the card; and what a "no" to each says.
_DECIDING = {1: "it matters", 2: "it points at what matters", 3: "it is the only story"}
_FAILED = {
    "it matters": "other weights would hardly change the answer",
    "it points at what matters": "it points elsewhere than at what matters",
    "it is the only story": "very different attention goes with the same answer",
}


@dataclass(frozen=True)
class Finding:
    """One number behind an answer."""

    name: str  # audit/metric or audit/metric@measure
    meaning: str
    value: float
    low: float
    high: float
    floor: float
    ceiling: float
    nan_share: float
    compared: float = 1.0  # of the examples that have the value, the share that have floor and ceiling too

    def __str__(self) -> str:
        return (
            f"{self.meaning}: {number(self.value)} [{number(self.low)}, {number(self.high)}] "
            f"(floor {number(self.floor)}, ceiling {number(self.ceiling)})"
        )


@dataclass(frozen=True)
class Answer:
    """The first finding is the one that decides."""

    question: str
    answer: str
    because: str
    findings: tuple[Finding, ...]
    blind: str  # what these audits cannot see


@dataclass(frozen=True)
class Card:
    answers: tuple[Answer, ...]
    cautions: tuple[str, ...] = ()  # what makes every answer doubtful

    def __getitem__(self, question: str) -> Answer:
        """card["needed?"]"""
        for answer in self.answers:
            if answer.question == question:
                return answer
        asked = ", ".join(repr(answer.question) for answer in self.answers)
        raise KeyError(f"The card has no question {question!r}; it has {asked}.")

    @property
    def verdict(self) -> str:
        """The answers in one sentence; "yes" needs all of: it matters, it points at what matters, it is the only story."""
        given = {claim: self.answers[at].answer for at, claim in _DECIDING.items()}
        failed = [_FAILED[claim] for claim, answer in given.items() if answer == NO]
        if failed:
            return f"Not as an explanation: {_and(failed)}."
        partly = [claim for claim, answer in given.items() if answer == PARTLY]
        beside = f"it is only partly shown that {_and(partly)}" if partly else ""
        unknown = [claim for claim, answer in given.items() if answer == UNKNOWN]
        if unknown:
            return f"Cannot tell whether {_and(unknown)}{f'; {beside}' if beside else ''}."
        if partly:
            return f"Not by itself: {beside}."
        stable = {YES: " and is stable", NO: " but is not stable", PARTLY: " and is partly stable"}
        how = stable.get(self.answers[4].answer, "; whether it is stable is another question")
        return f"Yes, for this model: it matters, points at what matters, is the only story{how}."

    def as_dict(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "cautions": list(self.cautions),
            "questions": [asdict(answer) for answer in self.answers],
        }

    def __str__(self) -> str:
        lines = [self.verdict, *(f"Caution: {each}" for each in self.cautions)]
        for answer in self.answers:
            lines.append(f"{answer.question:32s} {answer.answer.upper()}: {answer.because}")
            for at, finding in enumerate(answer.findings):
                lines.append(f"{'':32s} {' ' if at else '→'} {finding}")  # the arrow: this one decides
            lines.append(f"{'':32s}   cannot see: {answer.blind}")
        return "\n".join(lines)


def number(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.2f}" if abs(value) >= 0.005 or value == 0 else "0.00"


def _and(claims: list[str]) -> str:
    return claims[0] if len(claims) == 1 else f"{', '.join(claims[:-1])} and {claims[-1]}"
