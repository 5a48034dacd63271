"""The verdict: what the answers of the card together allow to conclude, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from attnaudit.results.questions import DECIDING, NO, PARTLY, UNKNOWN, YES, Question

# A no to one of these is a no to attention as an explanation. Of the other deciding questions a no
# only says that attention is no explanation on its own.
_FATAL = (Question.MATTERS, Question.POINTS)


class Verdict(NamedTuple):
    """What may be concluded.

    decision: "yes", "partly", "no" or "cannot tell". sentence: the same with its reasons.
    next_step: what to do, in one sentence.
    """

    decision: str
    sentence: str
    next_step: str


class GivenAnswer(Protocol):
    @property
    def answer(self) -> str: ...
    @property
    def partly(self) -> str: ...
    @property
    def is_open(self) -> bool: ...
    @property
    def denial(self) -> str: ...


def conclude(answers: Mapping[Question | None, GivenAnswer]) -> Verdict:
    """The verdict on attention as an explanation.

    No if it does not matter or does not point at what the model uses; yes if it does both, is the
    only story and is stable; otherwise partly, or cannot tell if a deciding audit is missing.

    Parameters
    ----------
    answers : by question; a question that is missing counts as "cannot tell".
    """
    given = {question: answers.get(question) for question in DECIDING}
    words = {q: UNKNOWN if answer is None else answer.answer for q, answer in given.items()}
    denials = [
        answer.denial or question.denial
        for question in _FATAL
        if (answer := given[question]) is not None and answer.answer == NO
    ]
    if denials:
        return Verdict(NO, f"Not as an explanation: {joined(denials, 'and')}.", _instead(words))
    doubts = [
        answer.partly if answer.answer == PARTLY else answer.denial or question.denial
        for question, answer in given.items()
        if answer is not None and answer.answer in (PARTLY, NO)
    ]
    unknown = [question.claim for question in DECIDING if words[question] == UNKNOWN]
    if unknown:
        rest = f"; {joined(doubts, 'and')}" if doubts else ""
        sentence = f"Cannot tell whether attention {joined(unknown, 'or')}{rest}."
        return Verdict(UNKNOWN, sentence, _run_missing(words))
    if doubts:
        is_open = any(answer is not None and answer.is_open for answer in given.values())
        return Verdict(PARTLY, f"Not on its own: {joined(doubts, 'and')}.", _settle(words, is_open))
    claims = joined([question.claim for question in DECIDING], "and")
    return Verdict(
        YES,
        f"Yes, for this model and texts like these: attention {claims}.",
        "Next: show it, with this card; audit again when the model or the kind of texts changes.",
    )


def _instead(words: Mapping[Question, str]) -> str:
    """What to do after a no."""
    if words[Question.POINTS] == NO:
        return (
            "Next: do not show it; show a measure that leaves words out itself, such as "
            "leave-one-out, if it passes these tests."
        )
    return (
        "Next: do not show it; a model whose weights do not matter can be explained by what does, "
        "such as leave-one-out, if it passes these tests."
    )


def _run_missing(words: Mapping[Question, str]) -> str:
    missing = joined([q.wording.rstrip("?") for q in DECIDING if words[q] == UNKNOWN], "and")
    return f'Next: see the reason under "{missing}" and audit again with what it asks for.'


def _settle(words: Mapping[Question, str], is_open: bool) -> str:
    """What to do after a partly."""
    if is_open:
        return (
            "Next: audit more texts; results.examples_needed(0.1) says how many narrow the "
            "intervals."
        )
    if words[Question.ONLY_STORY] == NO and words[Question.POINTS] == YES:
        return (
            "Next: show it as one of several possible accounts, with the furthest other one next "
            "to it."
        )
    return (
        "Next: show it only next to a measure that tests the input, such as leave-one-out, if that "
        "passes these tests."
    )


def joined(claims: Iterable[str], conjunction: str) -> str:
    """ "a", "a or b", "a, b or c"; an empty text for no claims."""
    claims = list(claims)
    if len(claims) < 2:
        return "".join(claims)
    return f"{', '.join(claims[:-1])} {conjunction} {claims[-1]}"
