"""Is it plausible? Does attention agree with the words that people mark?"""

from __future__ import annotations

from attnaudit.results.card import Answer
from attnaudit.results.number_formats import percent
from attnaudit.results.questions import EVIDENCE_HIT, Question
from attnaudit.results.rules.judging import OPEN, judge, make_answer
from attnaudit.results.rules.numbers import Numbers


def plausible(numbers: Numbers) -> Answer | None:
    """Answer from known evidence; None without any. It decides nothing about faithfulness."""
    question = Question.PLAUSIBLE
    judgement = judge(numbers, question, EVIDENCE_HIT, groups=())
    if judgement is None:
        return None
    findings = numbers.known(EVIDENCE_HIT, "evidence/mass@attention", "evidence/auprc@attention")
    share = judgement.finding.relative
    because = "no better than choosing a random word"
    if share > 0:
        because = (
            f"{percent(share)} of the way from choosing a random word to always choosing known "
            "evidence"
        )
    because += OPEN if judgement.is_open else ""
    return make_answer(question, judgement.answer, because, findings, is_open=judgement.is_open)
