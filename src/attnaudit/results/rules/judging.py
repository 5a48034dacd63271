"""How a number becomes an answer: its interval against thresholds, in every group of texts."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from attnaudit.results.card import Answer, Finding
from attnaudit.results.groups import describe_group
from attnaudit.results.questions import NO, PARTLY, UNKNOWN, YES, Question, Thresholds
from attnaudit.results.rules.numbers import Numbers

OPEN = "; the interval is too wide for a clear answer"
TOO_WIDE = "(the interval is too wide)"
ORDER = (NO, PARTLY, UNKNOWN, YES)  # of answers, from the least favourable
MAX_UNDEFINED = 0.5  # of the texts, for a number to decide anything


@dataclass(frozen=True)
class Judgement:
    """What one number says of its question.

    Attributes
    ----------
    answer : over all texts, and "partly" instead of "yes" if a group stands against it.
    is_open : whether more texts might change it.
    finding : the number over all texts.
    group : the name of the group that stands against a yes, or "".
    of_group : its number, if there is such a group.
    """

    answer: str
    is_open: bool
    finding: Finding
    group: str = ""
    of_group: Finding | None = None


def interval(finding: Finding, thresholds: Thresholds) -> tuple[float, float]:
    """The interval on the scale of the thresholds."""
    if thresholds.relative:
        return finding.relative_low, finding.relative_high
    return finding.low, finding.high


def judge(
    numbers: Numbers, question: Question, name: str, *, groups: Collection[str] | None = None
) -> Judgement | None:
    """Judge a number over all texts and in every group; None if it cannot decide.

    A yes needs every group with enough texts: in each of them a no must be ruled out. A group that
    holds a tenth of the texts and has too few values to be judged leaves a yes open.

    Parameters
    ----------
    numbers : of the summary.
    question : whose thresholds count.
    name : "audit/metric@measure", one of the question's.
    groups : the names of those that are judged, too; every one if omitted.
    """
    thresholds, finding = question.thresholds[name], numbers(name)
    if finding is None or math.isnan(interval(finding, thresholds)[0]):
        return None
    if finding.nan_share > MAX_UNDEFINED:
        return None
    answer, is_open = thresholds.judge(*interval(finding, thresholds))
    if answer != YES:
        return Judgement(answer, is_open, finding)
    groups = numbers.groups if groups is None else groups
    doubtful: list[tuple[bool, float, str, Finding]] = []
    for group in numbers.judged_groups(name, groups):
        of_group = numbers(name, group)
        if of_group is None or math.isnan(interval(of_group, thresholds)[0]):
            doubtful.append((True, math.nan, group, of_group or finding))
            continue
        low, high = interval(of_group, thresholds)
        if not thresholds.rules_out_no(low, high):
            is_no = thresholds.judge(low, high)[0] == NO
            better = (low + high) * (1 if thresholds.yes >= thresholds.no else -1)
            doubtful.append((not is_no, better, group, of_group))
    if not doubtful and (unjudged := numbers.unjudged_group(name, groups)) is not None:
        return Judgement(PARTLY, True, finding, unjudged)
    if not doubtful:
        return Judgement(YES, False, finding)
    is_maybe, _, group, of_group = min(
        doubtful, key=lambda each: (each[0], math.inf if math.isnan(each[1]) else each[1])
    )
    return Judgement(PARTLY, is_maybe, finding, group, of_group)


def make_answer(
    question: Question,
    answer: str,
    because: str,
    findings: tuple[Finding, ...] = (),
    *,
    blind: str | None = None,
    partly: str = "",
    is_open: bool = False,
    denial: str = "",
) -> Answer:
    """An answer with the question's own wording and blind spot."""
    blind = question.blind_spot if blind is None else blind
    return Answer(question.wording, answer, because, findings, blind, partly, is_open, denial)


def in_group(judgement: Judgement) -> str:
    """What a group that stands against a yes adds to the reason, or an empty text."""
    if not judgement.group:
        return ""
    if judgement.is_open:
        return f"; for {describe_group(judgement.group)} a no cannot be ruled out"
    return f"; but not for {describe_group(judgement.group)}"


def worst(answers: list[str]) -> str:
    """The least favourable of some answers; "cannot tell" only if no other stands against a yes."""
    return min(answers, key=ORDER.index)
