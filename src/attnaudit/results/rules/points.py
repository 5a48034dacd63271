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

_CHOSEN = "top_words/searched_exactly"  # known for every text that the audit chose
_MIN_ROOM = 0.1  # log-odds between random words and the best ones, to tell good from bad
_WITNESSES = ("agreement/tau@leave_one_out", "agreement/tau@gradient", "redundancy/hidden_flip")


def points(numbers: Numbers) -> Answer:
    """Answer from comprehensiveness and sufficiency of the top words, and from their polarity.

    The first two are placed between random words and the best words that can be found; the less
    favourable of the three decides. Rank correlations are shown and decide nothing.
    """
    question = Question.POINTS
    without, only, against = question.thresholds
    witnesses = numbers.known(*_WITNESSES)
    if not numbers.ran("top_words"):
        return make_answer(question, UNKNOWN, numbers.why_unknown("top_words"), witnesses)
    judgements = {
        name: judgement
        for name in (without, only)
        if (judgement := judge(numbers, question, name)) is not None
    }
    findings = (*numbers.known(without, only, against), *witnesses)
    if (reason := _why_unknown(numbers, judgements, without, only)) is not None:
        return make_answer(question, UNKNOWN, reason, findings)
    polarity = judge(numbers, question, against)
    if polarity is not None:
        judgements[against] = polarity
    answer = worst([judgement.answer for judgement in judgements.values()])
    name, deciding = min(
        ((name, each) for name, each in judgements.items() if each.answer == answer),
        key=lambda pair: (pair[0] == against, pair[1].is_open, pair[1].finding.relative),
    )
    findings = (deciding.finding, *(each for each in findings if each != deciding.finding))
    because = _how_far(judgements[without].finding, judgements[only].finding)
    if name == against:
        because = _against(deciding.finding)
    addition = in_class(deciding) or (OPEN if deciding.is_open else "")
    return make_answer(
        question,
        answer,
        because + addition,
        findings,
        partly=_partly(deciding, is_polarity=name == against) if answer == PARTLY else "",
        is_open=deciding.is_open,
    )


def _why_unknown(
    numbers: Numbers, judgements: dict[str, Judgement], without: str, only: str
) -> str | None:
    """Why comprehensiveness and sufficiency decide nothing, or None if they do."""
    chosen = numbers.values(_CHOSEN)
    defined = min(numbers.values(without), numbers.values(only))
    if chosen and defined < (1 - MAX_UNDEFINED) * chosen:
        return f"the numbers exist for only {percent(defined / chosen)} of the texts tried"
    overall = [each.finding for each in judgements.values()]
    if len(overall) < 2:
        return numbers.why_unknown("top_words")
    if all(abs(each.ceiling - each.floor) <= _MIN_ROOM for each in overall):
        return (
            "even the best words to leave out change little more than random ones: "
            "no few words decide"
        )
    return None


def _how_far(without: Finding, only: Finding) -> str:
    return (
        f"leaving out the most attended words does {_share(without)}, and keeping only them "
        f"{_share(only)}, of what the best words would do beyond random ones"
    )


def _share(finding: Finding) -> str:
    return "nothing" if finding.relative <= 0.005 else percent(finding.relative)


def _against(finding: Finding) -> str:
    return (
        f"in {percent(finding.value)} of the texts the most attended word speaks against the "
        "decision"
    )


def _partly(judgement: Judgement, *, is_polarity: bool) -> str:
    """What the verdict says of a "partly"."""
    if judgement.group:
        can = "may not point" if judgement.is_open else "does not point"
        return f"for texts predicted {judgement.group!r} it {can} at the words the model uses"
    if judgement.is_open:
        return f"how well it points at the words the model uses is unclear {TOO_WIDE}"
    if is_polarity:
        return _against(judgement.finding)
    return (
        "it points at the words the model uses only in part "
        f"({_share(judgement.finding)} of the way from random words to the best ones)"
    )
