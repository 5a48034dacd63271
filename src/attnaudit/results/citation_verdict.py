"""The verdict on attention as a citation."""

from __future__ import annotations

from collections.abc import Mapping

from attnaudit.results.questions import DECIDING_CITATION, NO, PARTLY, UNKNOWN, YES, Question
from attnaudit.results.verdict import GivenAnswer, Verdict, joined


def conclude_citation(answers: Mapping[Question | None, GivenAnswer]) -> Verdict:
    """May attention be shown as the source of an answer?

    No if one of the three questions about sources is answered no; yes if all are answered yes;
    cannot tell if one could not be answered; otherwise partly. The words of the sources do not
    count.

    Parameters
    ----------
    answers : by question; a question that is missing counts as "cannot tell".
    """
    given = {question: answers.get(question) for question in DECIDING_CITATION}
    words = {q: UNKNOWN if answer is None else answer.answer for q, answer in given.items()}
    denials = [question.denial for question, word in words.items() if word == NO]
    if denials:
        return Verdict(NO, f"Not as a citation: {joined(denials, 'and')}.", _instead(words))
    doubts = [
        answer.partly for answer in given.values() if answer is not None and answer.answer == PARTLY
    ]
    unknown = [question.claim for question, word in words.items() if word == UNKNOWN]
    if unknown:
        rest = f"; {joined(doubts, 'and')}" if doubts else ""
        return Verdict(
            UNKNOWN,
            f"Cannot tell whether {joined(unknown, 'or')}{rest}.",
            "Next: see the reason under the question, and audit again with what it asks for.",
        )
    if doubts:
        return Verdict(
            PARTLY,
            f"Not on its own: {joined(doubts, 'and')}.",
            "Next: show it only next to a witness that leaves sources out, such as leave-one-out.",
        )
    claims = joined([question.claim for question in given], "and")
    return Verdict(
        YES,
        f"Yes, for this model and questions like these: {claims}.",
        "Next: show it, with this card; audit again when the model or the kind of questions "
        "changes.",
    )


def _instead(words: Mapping[Question, str]) -> str:
    if words[Question.USES_SOURCES] == NO:
        return "Next: show no source for these answers; the model gives them without any."
    return (
        "Next: do not show it; cite the source without which the answer is least likely "
        "(leave-one-out), or that of the surrogate."
    )
