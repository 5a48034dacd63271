"""Does it point at what the model uses? Decided by leaving out the words it points at."""

from __future__ import annotations

from attnaudit.results.card import Answer, Finding
from attnaudit.results.number_formats import percent
from attnaudit.results.questions import PARTLY, UNKNOWN, Question
from attnaudit.results.rules.judging import (
    MAX_UNDEFINED,
    OPEN,
    TOO_WIDE,
    Judgement,
    in_class,
    judge,
    make_answer,
    worst,
)
from attnaudit.results.rules.numbers import Numbers

_WITHOUT, _ONLY = "top_words/comprehensiveness@attention", "top_words/sufficiency@attention"
_CHOSEN = "top_words/searched_exactly"  # known for every text that the audit chose
_MIN_ROOM = 0.2  # log-odds between random words and the best ones, to tell good from bad
_WITNESSES = ("agreement/tau@leave_one_out", "agreement/tau@gradient", "redundancy/hidden_flip")


def points(numbers: Numbers) -> Answer:
    """Answer from what the top words say on their own and the rest without them.

    That is placed between random words and the best words that can be found. The polarity of the
    top word may make it worse. Rank correlations are shown and decide nothing.
    """
    question = Question.POINTS
    carried, against = question.thresholds
    findings = numbers.known(carried, _WITHOUT, _ONLY, against, *_WITNESSES)
    contrast, polarity = (judge(numbers, question, name) for name in question.thresholds)
    reason = _why_unknown(numbers, contrast, carried)
    if contrast is None or reason is not None:
        return make_answer(question, UNKNOWN, reason or "", findings)
    deciding = contrast
    if polarity is not None and worst([polarity.answer, contrast.answer]) != contrast.answer:
        deciding = polarity
    findings = (deciding.finding, *(each for each in findings if each != deciding.finding))
    because = _how_far(numbers, contrast.finding) if deciding is contrast else _against(polarity)
    addition = in_class(deciding) or (OPEN if deciding.is_open else "")
    return make_answer(
        question,
        deciding.answer,
        because + addition,
        findings,
        partly=_partly(deciding, polarity) if deciding.answer == PARTLY else "",
        is_open=deciding.is_open,
    )


def _why_unknown(numbers: Numbers, contrast: Judgement | None, name: str) -> str | None:
    """Why the top words decide nothing, or None if they do."""
    chosen, defined = numbers.values(_CHOSEN), numbers.values(name)
    if chosen and defined < (1 - MAX_UNDEFINED) * chosen:
        return f"the numbers exist for only {percent(defined / chosen)} of the texts tried"
    finding = numbers(name)
    if finding is not None and finding.ceiling - finding.floor <= _MIN_ROOM:
        return (
            "even the best words to leave out change little more than random ones: "
            "no few words decide"
        )
    return numbers.why_unknown("top_words") if contrast is None else None


def _how_far(numbers: Numbers, contrast: Finding) -> str:
    without, only = numbers(_WITHOUT), numbers(_ONLY)
    words = f"the most attended words are {_share(contrast)} of the way from random to the best"
    if without is None or only is None:
        return words
    return f"{words} words: {_share(without)} when left out, {_share(only)} when kept alone"


def _share(finding: Finding) -> str:
    return percent(max(finding.relative, 0.0))


def _against(polarity: Judgement | None) -> str:
    share = 0.0 if polarity is None else polarity.finding.value
    return f"in {percent(share)} of the texts the most attended word speaks against the decision"


def _partly(judgement: Judgement, polarity: Judgement | None) -> str:
    """What the verdict says of a "partly"."""
    if judgement.group:
        can = "may not point" if judgement.is_open else "does not point"
        return f"for texts predicted {judgement.group!r} it {can} at the words the model uses"
    if judgement.is_open:
        return f"how well it points at the words the model uses is unclear {TOO_WIDE}"
    if judgement is polarity:
        return _against(polarity)
    return (
        "it points at the words the model uses only in part "
        f"({_share(judgement.finding)} of the way from random words to the best ones)"
    )
