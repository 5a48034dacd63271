"""Does it point at what the model uses? Decided by leaving out the words it points at.

Thresholds: `Question.POINTS` in `results/questions.py`.
"""

from __future__ import annotations

from dataclasses import replace

from attnaudit.results.card import Answer, Finding
from attnaudit.results.groups import describe_group
from attnaudit.results.number_formats import percent
from attnaudit.results.questions import (
    NO,
    PARTLY,
    TOP_WORD_AGAINST,
    TOP_WORD_SUPPORT,
    TOP_WORDS_CONTRAST,
    TOP_WORDS_PLACE,
    UNKNOWN,
    YES,
    Question,
)
from attnaudit.results.rules.judging import (
    MAX_UNDEFINED,
    OPEN,
    TOO_WIDE,
    Judgement,
    in_group,
    judge,
    make_answer,
    worst,
)
from attnaudit.results.rules.numbers import Numbers

_WITHOUT, _ONLY = "top_words/comprehensiveness@attention", "top_words/sufficiency@attention"
_CHOSEN = "top_words/searched_exactly"  # known for every text that the audit chose
_MIN_ROOM = 0.2  # log-odds between random words and the best ones, to tell good from bad
_IDLE_TOP = "the most attended word itself hardly counts"
# The best words are found by a search: leave-one-out shows how near to them a ranking can come.
_WITHIN_REACH = "top_words/contrast@leave_one_out"
_WITNESSES = (
    _WITHIN_REACH,
    "agreement/tau@leave_one_out",
    "agreement/tau@gradient",
    "redundancy/hidden_flip",
)


def points(numbers: Numbers) -> Answer:
    """Answer from what the top words say on their own and the rest without them.

    That is placed between random words and the best words that can be found. The polarity of the
    top word may make it worse. Rank correlations, and what leave-one-out reaches, decide nothing.
    """
    question = Question.POINTS
    findings = numbers.known(
        TOP_WORDS_CONTRAST,
        TOP_WORDS_PLACE,
        _WITHOUT,
        _ONLY,
        TOP_WORD_SUPPORT,
        TOP_WORD_AGAINST,
        *_WITNESSES,
    )
    contrast = judge(numbers, question, TOP_WORDS_CONTRAST)
    place = judge(numbers, question, TOP_WORDS_PLACE)
    polarity = judge(numbers, question, TOP_WORD_AGAINST)
    # A top word that does nothing is no reason for a no: words may back each other up.
    top = judge(numbers, question, TOP_WORD_SUPPORT, groups=())
    reason = _why_unknown(numbers, contrast)
    if contrast is None or reason is not None:
        return make_answer(question, UNKNOWN, reason or "", findings)
    judged = [contrast, *([] if place is None else [place])]
    judged += [] if polarity is None or polarity.answer == YES else [polarity]
    judged += [] if top is None or top.answer != NO else [replace(top, answer=PARTLY)]
    answer = worst([judgement.answer for judgement in judged])
    deciding = next(judgement for judgement in judged if judgement.answer == answer)
    findings = (deciding.finding, *(finding for finding in findings if finding != deciding.finding))
    is_against = polarity is not None and deciding is polarity
    because = _how_far(numbers, contrast.finding, place)
    if is_against:
        because = _against(deciding)
    elif deciding.finding.name.endswith("/support@attention"):
        because += f"; {_IDLE_TOP}"
    addition = in_group(deciding) or (OPEN if deciding.is_open else "")
    return make_answer(
        question,
        answer,
        because + addition,
        findings,
        partly=_partly(deciding, is_against=is_against) if answer == PARTLY else "",
        is_open=deciding.is_open,
        denial="it points at words that speak against the decision" if is_against else "",
    )


def _why_unknown(numbers: Numbers, contrast: Judgement | None) -> str | None:
    """Why the top words decide nothing, or None if they do."""
    chosen, defined = numbers.values(_CHOSEN), numbers.values(TOP_WORDS_CONTRAST)
    if chosen and defined < (1 - MAX_UNDEFINED) * chosen:
        return f"the numbers exist for only {percent(defined / chosen)} of the texts tried"
    finding = numbers(TOP_WORDS_CONTRAST)
    if finding is not None and finding.ceiling - finding.floor <= _MIN_ROOM:
        return (
            "even the best words to leave out change little more than random ones: "
            "no few words decide"
        )
    return numbers.why_unknown("top_words") if contrast is None else None


def _how_far(numbers: Numbers, contrast: Finding, place: Judgement | None) -> str:
    without, only = numbers(_WITHOUT), numbers(_ONLY)
    share = _share(contrast)
    if place is not None:
        share += f" ({percent(max(place.finding.value, 0.0))} in the mean text)"
    words = f"the most attended words are {share} of the way from random to the best"
    if without is not None and only is not None:
        words += f" words: {_share(without)} when left out, {_share(only)} when kept alone"
    reached = numbers(_WITHIN_REACH)
    return words if reached is None else f"{words} (leave-one-out's words: {_share(reached)})"


def _share(finding: Finding) -> str:
    return percent(max(finding.relative, 0.0))


def _against(polarity: Judgement) -> str:
    share = percent(polarity.finding.value)
    return f"in {share} of the texts the most attended word speaks against the decision"


def _partly(judgement: Judgement, *, is_against: bool) -> str:
    """What the verdict says of a "partly"."""
    if judgement.group:
        can = "may not point" if judgement.is_open else "does not point"
        return f"for {describe_group(judgement.group)} it {can} at the words the model uses"
    if judgement.is_open:
        return f"how well it points at the words the model uses is unclear {TOO_WIDE}"
    if is_against:
        return _against(judgement)
    if judgement.finding.name.endswith("/support@attention"):
        return _IDLE_TOP
    is_place = judgement.finding.name.endswith("/place@attention")
    share = percent(max(judgement.finding.value, 0.0)) if is_place else _share(judgement.finding)
    return (
        "it points at the words the model uses only in part "
        f"({share} of the way from random words to the best ones)"
    )
