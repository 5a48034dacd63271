"""The card: six questions, each answered from named audits, and the verdict.

Every number is shown with its interval, floor and ceiling, and every answer with its blind spot.
The questions are in questions.py, the rules in rules/ and docs/card.md. The answer is "cannot
tell" if the audit that could show a failure did not run.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from attnaudit.results.checksums import json_safe
from attnaudit.results.citation_verdict import conclude_citation
from attnaudit.results.number_formats import MISSING, number, probability
from attnaudit.results.questions import CITATION, EXPLANATION, RULES, UNKNOWN, Question
from attnaudit.results.reliability import reliability
from attnaudit.results.verdict import Verdict, conclude

_DIGITS = 2  # of every number on the card
_PROBABILITIES = ("source_use/open_book", "source_use/closed_book")  # may be nearly 0
_WIDTH = 38  # of the column of questions in the printed card, at least


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
    relative, relative_low, relative_high : where the value lies between floor (0) and ceiling (1),
        with its 95 % interval; NaN if that is unknown.
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
    relative: float = math.nan
    relative_low: float = math.nan
    relative_high: float = math.nan

    @property
    def is_probability(self) -> bool:
        """Whether it may be so near 0 that rounding would make 0 of it."""
        return self.name in _PROBABILITIES

    def __str__(self) -> str:
        shown = probability if self.is_probability else number
        value, low, high, floor, ceiling = (
            shown(value, _DIGITS)
            for value in (self.value, self.low, self.high, self.floor, self.ceiling)
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
    is_open : whether more texts might change the answer.
    denial : what the verdict says of a "no", if not what the question says.
    """

    question: str
    answer: str
    because: str
    findings: tuple[Finding, ...]
    blind: str
    partly: str = ""
    is_open: bool = False
    denial: str = ""


@dataclass(frozen=True)
class Card:
    """The answers, the verdict, the accuracy and cautions.

    Attributes
    ----------
    answers : one per `Question`, in its order; "is it plausible?" only with known evidence.
    cautions : what makes every answer doubtful.
    accuracy : on the audited texts, with its interval; or why it is unknown.
    rules : the version of the rules that made it.
    stored : verdict, decision and next step of a card that was stored by earlier rules.
    kind : what attention is shown as, an "explanation" or a "citation".
    steps : what would settle what is open, as (text, command).
    has_rates : whether the error rates were measured on results like these.

    Examples
    --------
    >>> from attnaudit.results.rules import make_card
    >>> import pandas as pd
    >>> columns = ["audit", "measure", "metric", "row", "group", "count"]
    >>> card = make_card(pd.DataFrame(columns=columns), about={})
    >>> card["matters"].answer, card.decision
    ('cannot tell', 'cannot tell')
    """

    answers: tuple[Answer, ...]
    cautions: tuple[str, ...] = ()
    accuracy: str = ""
    rules: int = RULES
    stored: Verdict | None = None
    kind: str = EXPLANATION
    steps: tuple[tuple[str, str], ...] = ()
    has_rates: bool = True

    def __getitem__(self, question: str | Question) -> Answer:
        """The answer to a question, given by its key ("needed") or its wording ("needed?")."""
        wanted = Question.find(question) if isinstance(question, str) else question
        for answer in self.answers:
            if wanted is not None and Question.find(answer.question) is wanted:
                return answer
        known = ", ".join(repr(answer.question) for answer in self.answers)
        raise KeyError(f"The card has no question {question!r}; it has {known}.")

    def answer_to(self, question: Question) -> str:
        """The answer in a word, or a dash if this card does not have the question."""
        answers = {Question.find(answer.question): answer.answer for answer in self.answers}
        return answers.get(question, MISSING)

    @property
    def conclusion(self) -> Verdict:
        """Decision, verdict and next step."""
        answers = {Question.find(answer.question): answer for answer in self.answers}
        if self.stored is not None:
            return self.stored
        return conclude_citation(answers) if self.kind == CITATION else conclude(answers)

    @property
    def error_rates(self) -> str:
        """How often cards of these rules were wrong on models of known truth; empty if unknown."""
        return reliability(self.rules, self.kind) if self.has_rates else ""

    @property
    def verdict(self) -> str:
        """What may be concluded, in one sentence."""
        return self.conclusion.sentence

    @property
    def decision(self) -> str:
        """The verdict in a word: "yes", "partly", "no" or "cannot tell"."""
        return self.conclusion.decision

    @property
    def next_step(self) -> str:
        """What to do next, in one sentence."""
        return self.conclusion.next_step

    def as_dict(self) -> dict[str, Any]:
        """What card.json holds."""
        return {
            "rules": self.rules,
            "verdict": self.verdict,
            "decision": self.decision,
            "next_step": self.next_step,
            "next_steps": [{"text": text, "command": command} for text, command in self.steps],
            "accuracy": self.accuracy,
            "cautions": list(self.cautions),
            "questions": [json_safe(asdict(answer)) for answer in self.answers],
        }

    def __str__(self) -> str:
        lines = [
            self.verdict,
            *filter(None, [self.next_step, *self._step_lines()]),
            *filter(None, [self.error_rates, self.accuracy]),
            *(f"Caution: {caution}" for caution in self.cautions),
        ]
        width = max([_WIDTH, *(len(answer.question) for answer in self.answers)])
        for answer in self.answers:
            lines.append(f"{answer.question:{width}s} {answer.answer.upper()}: {answer.because}")
            for index, finding in enumerate(answer.findings):
                # marks the finding that decides
                arrow = " " if index or answer.answer == UNKNOWN else "→"
                lines.append(f"{'':{width}s} {arrow} {finding}")
            lines.append(f"{'':{width}s}   cannot see: {answer.blind}")
        return "\n".join(lines)

    def _step_lines(self) -> list[str]:
        """Each step, with its command on a line of its own."""
        return [
            line
            for text, command in self.steps
            for line in (f"- {text}", f"    {command}" if command else "")
        ]
