"""Does it matter? Does the prediction depend on the weights?

Thresholds: `Question.MATTERS` in `results/questions.py`.
"""

from __future__ import annotations

from attnaudit.results.card import Answer
from attnaudit.results.groups import describe_group
from attnaudit.results.number_formats import number, percent
from attnaudit.results.questions import (
    LOG_ODDS_CHANGE,
    NO,
    PARTLY,
    PROBABILITY_CHANGE,
    SHUFFLE_FLIPS,
    UNKNOWN,
    YES,
    Question,
)
from attnaudit.results.rules.judging import (
    OPEN,
    TOO_WIDE,
    Judgement,
    in_group,
    judge,
    make_answer,
)
from attnaudit.results.rules.numbers import Numbers


def matters(numbers: Numbers) -> Answer:
    """Answer from shuffled weights: how far the prediction moves, and how many decisions change.

    The move counts in probability or in log-odds, whichever says more: near p = 1 a probability
    hides it. A yes needs changed decisions, too; a no needs that none of the three moves.
    """
    question = Question.MATTERS
    findings = numbers.known(
        PROBABILITY_CHANGE,
        LOG_ODDS_CHANGE,
        SHUFFLE_FLIPS,
        "top_item/flips_top",
        "flip_fraction/removed@attention",
    )
    change = judge(numbers, question, PROBABILITY_CHANGE)
    odds = judge(numbers, question, LOG_ODDS_CHANGE)
    # One class may be what remains when the weights miss every word that counts: its decisions
    # never change, although the weights matter for it. So flips are judged over all texts.
    flips = judge(numbers, question, SHUFFLE_FLIPS, groups=())
    if change is None:
        return make_answer(question, UNKNOWN, numbers.why_unknown("permutation"), findings)
    moved = _clearer(change, odds)
    effect = f"changes the probabilities by {number(change.finding.value, 2)}"
    if flips is not None:
        effect += f" and {percent(flips.finding.value)} of the decisions"
    answer, is_open = moved.answer, moved.is_open
    addition = in_group(moved)
    if flips is not None and answer == YES and flips.answer != YES:
        answer, is_open = PARTLY, flips.is_open
        addition = "; hardly any decision depends on them" if flips.answer == NO else OPEN
    if flips is not None and answer == NO and flips.answer != NO:
        answer, is_open = PARTLY, flips.is_open
        addition = OPEN if is_open else "; the median hides the texts in which they do"
    if is_open and not addition:
        addition = OPEN
    partly = f"the weights matter only in part (shuffling them {effect})"
    if moved.group:
        partly = f"for {describe_group(moved.group)} the weights barely matter"
    if is_open:
        partly = f"how much the weights matter is unclear {TOO_WIDE}"
        if moved.group:
            partly = f"for {describe_group(moved.group)} the weights may not matter {TOO_WIDE}"
    findings = (moved.finding, *(finding for finding in findings if finding != moved.finding))
    because = f"shuffling the weights {effect}{addition}"
    return make_answer(question, answer, because, findings, partly=partly, is_open=is_open)


def _clearer(change: Judgement, odds: Judgement | None) -> Judgement:
    """Whichever shows more of an effect: no only if both are."""
    if odds is None:
        return change
    return max(change, odds, key=lambda each: (NO, PARTLY, YES).index(each.answer))
