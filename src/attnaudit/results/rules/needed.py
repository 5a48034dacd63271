"""Needed? Would uniform attention have done?"""

from __future__ import annotations

from attnaudit.results.card import Answer
from attnaudit.results.number_formats import number, percent
from attnaudit.results.questions import ACCURACY_DROP, UNIFORM_FLIPS, UNKNOWN, Question
from attnaudit.results.rules.judging import OPEN, in_group, judge, make_answer
from attnaudit.results.rules.numbers import Numbers


def needed(numbers: Numbers) -> Answer:
    """Answer from the accuracy lost under uniform attention; without labels, from the flips."""
    question = Question.NEEDED
    findings = numbers.known(ACCURACY_DROP, UNIFORM_FLIPS)
    # Right decisions can only be lost and wrong ones only won, whatever the attention: a change of
    # accuracy is judged by predicted class alone.
    judgement = judge(numbers, question, ACCURACY_DROP, groups=numbers.classes)
    judgement = judgement or judge(numbers, question, UNIFORM_FLIPS)
    if judgement is None:
        return make_answer(question, UNKNOWN, numbers.why_unknown("uniform_attention"))
    if judgement.finding.name.endswith("/accuracy_drop"):
        because = _accuracy_change(judgement.finding.value)
    else:
        because = f"uniform attention changes {percent(judgement.finding.value)} of the decisions"
    because += in_group(judgement) or (OPEN if judgement.is_open else "")
    return make_answer(question, judgement.answer, because, findings, is_open=judgement.is_open)


def _accuracy_change(drop: float) -> str:
    if abs(drop) < 0.005:
        return "with uniform attention, accuracy stays the same"
    verb = "falls" if drop > 0 else "rises"
    return f"with uniform attention, accuracy {verb} by {number(abs(drop), 2)}"
