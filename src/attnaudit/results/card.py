"""The card: five questions, each answered from named audits.

Every number is shown with its interval, floor and ceiling, and every answer with its blind spot.
The questions are in questions.py, the rules in card_rules.py and docs/card.md. The answer is
"cannot tell" if the audit that could show a failure did not run.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from attnaudit.results.number_formats import number
from attnaudit.results.questions import DECIDING, NO, PARTLY, UNKNOWN, YES, Question

_DIGITS = 2  # of every number on the card
_WIDTH = 32  # of the column of questions in the printed card


@dataclass(frozen=True)
class Finding:
    """One number behind an answer.

    Attributes
    ----------
    name : "audit/metric" or "audit/metric@measure".
    meaning : what the number is, in words.
    value, low, high : the mean and its 95 % interval.
    floor, ceiling : what knowing nothing would give, and the best that can be expected.
    nan_share : share of the examples without the value.
    compared : of the examples with the value, the share that has floor and ceiling too.
    note : what a reader could not guess, such as why a value is above its ceiling.
    """

    name: str
    meaning: str
    value: float
    low: float
    high: float
    floor: float
    ceiling: float
    nan_share: float
    compared: float = 1.0
    note: str = ""

    def __str__(self) -> str:
        value, low, high, floor, ceiling = (
            number(each, _DIGITS)
            for each in (self.value, self.low, self.high, self.floor, self.ceiling)
        )
        note = f"; {self.note}" if self.note else ""
        return f"{self.meaning}: {value} [{low}, {high}] (floor {floor}, ceiling {ceiling}){note}"


@dataclass(frozen=True)
class Answer:
    """The answer to one question.

    Attributes
    ----------
    question : its wording.
    answer : "yes", "partly", "no" or "cannot tell".
    because : the reason in words.
    findings : the numbers behind it; the first one decides.
    blind : what these audits cannot see.
    partly : what the verdict says of a "partly"; empty otherwise.
    """

    question: str
    answer: str
    because: str
    findings: tuple[Finding, ...]
    blind: str
    partly: str = ""


@dataclass(frozen=True)
class Card:
    """Five answers, the verdict, the accuracy and cautions.

    Attributes
    ----------
    answers : one per `Question`, in its order.
    cautions : what makes every answer doubtful.
    accuracy : on the audited texts, with its interval; or why it is unknown.

    Examples
    --------
    >>> from attnaudit.results.card_rules import make_card
    >>> import pandas as pd
    >>> columns = ["audit", "measure", "metric", "row", "group", "count"]
    >>> card = make_card(pd.DataFrame(columns=columns), about={})
    >>> card["matters"].answer
    'cannot tell'
    """

    answers: tuple[Answer, ...]
    cautions: tuple[str, ...] = ()
    accuracy: str = ""

    def __getitem__(self, question: str | Question) -> Answer:
        """The answer to a question, given by its key ("needed") or its wording ("needed?")."""
        wanted = Question.find(question) if isinstance(question, str) else question
        for answer in self.answers:
            if wanted is not None and answer.question == wanted.wording:
                return answer
        known = ", ".join(repr(answer.question) for answer in self.answers)
        raise KeyError(f"The card has no question {question!r}; it has {known}.")

    @property
    def verdict(self) -> str:
        """The answers in one sentence.

        "Yes" needs three: it matters, it points at what matters, and it is the only story.
        """
        answers = {question: self[question] for question in DECIDING}
        denials = [question.denial for question in DECIDING if answers[question].answer == NO]
        if denials:
            return f"Not as an explanation: {_joined(denials, 'and')}."
        partly = _joined(
            [answer.partly for answer in answers.values() if answer.answer == PARTLY], "and"
        )
        unknown = [question.claim for question in DECIDING if answers[question].answer == UNKNOWN]
        if unknown:
            rest = f"; {partly}" if partly else ""
            return f"Cannot tell whether attention {_joined(unknown, 'or')}{rest}."
        if partly:
            return f"Not on its own: {partly}."
        claims = _joined([question.claim for question in DECIDING], "and")
        stable = {
            YES: ", and it is stable",
            NO: ", but it is not stable",
            PARTLY: ", and it is partly stable",
            UNKNOWN: "; whether it is stable is not known",
        }[self[Question.STABLE].answer]
        return f"Yes, for this model: attention {claims}{stable}."

    def as_dict(self) -> dict[str, Any]:
        """What card.json holds."""
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
            *(f"Caution: {caution}" for caution in self.cautions),
        ]
        for answer in self.answers:
            lines.append(f"{answer.question:{_WIDTH}s} {answer.answer.upper()}: {answer.because}")
            for index, finding in enumerate(answer.findings):
                arrow = " " if index else "→"  # marks the finding that decides
                lines.append(f"{'':{_WIDTH}s} {arrow} {finding}")
            lines.append(f"{'':{_WIDTH}s}   cannot see: {answer.blind}")
        return "\n".join(lines)


def _joined(claims: list[str], conjunction: str) -> str:
    """ "a", "a or b", "a, b or c"; an empty text for no claims."""
    if len(claims) < 2:
        return "".join(claims)
    return f"{', '.join(claims[:-1])} {conjunction} {claims[-1]}"
