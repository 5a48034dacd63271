"""The card: five questions, each answered from named audits, with interval, floor, ceiling and blind spot.

The rules are in card_rules.py and docs/card.md. Never one number without the others; "cannot tell" if the audit that
could see the failure did not run.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

YES, PARTLY, NO, UNKNOWN = "yes", "partly", "no", "cannot tell"

# The questions that decide the verdict, by their position on the card: (what a yes says, what a no says).
_DECIDING = {
    1: ("matters", "other weights would barely change the prediction"),
    2: ("points at what matters", "it does not point at what matters"),
    3: ("is the only story", "very different attention gives the same prediction"),
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
    compared: float = (
        1.0  # of the examples that have the value, the share that have floor and ceiling too
    )
    note: str = ""  # what a reader could not guess, such as why a value is above its ceiling

    def __str__(self) -> str:
        return (
            f"{self.meaning}: {number(self.value)} [{number(self.low)}, {number(self.high)}] "
            f"(floor {number(self.floor)}, ceiling {number(self.ceiling)})"
            f"{f'; {self.note}' if self.note else ''}"
        )


@dataclass(frozen=True)
class Answer:
    """The first finding is the one that decides."""

    question: str
    answer: str
    because: str
    findings: tuple[Finding, ...]
    blind: str  # what these audits cannot see
    partly: str = ""  # for a "partly": what the verdict says of it


@dataclass(frozen=True)
class Card:
    answers: tuple[Answer, ...]
    cautions: tuple[str, ...] = ()  # what makes every answer doubtful
    accuracy: str = ""  # of the audited texts, with its interval; or why it is unknown

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
        decided = [(*claims, self.answers[position]) for position, claims in _DECIDING.items()]
        failed = [no for _, no, answer in decided if answer.answer == NO]
        if failed:
            return f"Not as an explanation: {_joined(failed, 'and')}."
        partly = _joined(
            [answer.partly for *_, answer in decided if answer.answer == PARTLY], "and"
        )
        unknown = [yes for yes, _, answer in decided if answer.answer == UNKNOWN]
        if unknown:
            return f"Cannot tell whether attention {_joined(unknown, 'or')}{f'; {partly}' if partly else ''}."
        if partly:
            return f"Not on its own: {partly}."
        claims = "attention matters, points at what matters and is the only story"
        stable = {
            YES: ", and it is stable",
            NO: ", but it is not stable",
            PARTLY: ", and it is partly stable",
        }
        how = stable.get(self.answers[4].answer, "; whether it is stable is not known")
        return f"Yes, for this model: {claims}{how}."

    def as_dict(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "accuracy": self.accuracy,
            "cautions": list(self.cautions),
            "questions": [asdict(answer) for answer in self.answers],
        }

    def __str__(self) -> str:
        lines = [
            self.verdict,
            *filter(None, [self.accuracy]),
            *(f"Caution: {each}" for each in self.cautions),
        ]
        for answer in self.answers:
            lines.append(f"{answer.question:32s} {answer.answer.upper()}: {answer.because}")
            for at, finding in enumerate(answer.findings):
                lines.append(
                    f"{'':32s} {' ' if at else '→'} {finding}"
                )  # the arrow: this one decides
            lines.append(f"{'':32s}   cannot see: {answer.blind}")
        return "\n".join(lines)


def number(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.2f}" if abs(value) >= 0.005 or value == 0 else "0.00"


def _joined(claims: list[str], word: str) -> str:
    """ "a", "a or b", "a, b or c"; no claims give an empty text."""
    if len(claims) < 2:
        return "".join(claims)
    return f"{', '.join(claims[:-1])} {word} {claims[-1]}"
