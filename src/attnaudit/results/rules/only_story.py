"""Is it the only story? Could a very different heatmap have gone with the same prediction?"""

from __future__ import annotations

from attnaudit.results.card import Answer, Finding
from attnaudit.results.groups import describe_group
from attnaudit.results.number_formats import percent
from attnaudit.results.questions import (
    FURTHEST_DISTANCE,
    PARTLY,
    STRICT_DISTANCE,
    UNKNOWN,
    YES,
    Question,
    Thresholds,
)
from attnaudit.results.rules.judging import MAX_UNDEFINED, OPEN, TOO_WIDE, make_answer
from attnaudit.results.rules.numbers import Numbers

# The share found, and the share beyond which there is none: strictly the same log-odds, or else
# the same probabilities.
_STRICT = (STRICT_DISTANCE, "furthest/strict_upper_share")
_PLAIN = (FURTHEST_DISTANCE, "furthest/upper_share")


def only_story(numbers: Numbers) -> Answer:
    """Answer from the furthest attention with the same prediction, and the bound on it."""
    question = Question.ONLY_STORY
    in_nats = numbers.known("furthest/jsd")
    for share_name, upper_name in (_STRICT, _PLAIN):
        share, upper = numbers(share_name), numbers(upper_name)
        if (
            share is not None
            and upper is not None
            and share.nan_share <= MAX_UNDEFINED
            and (
                share.low <= upper.high  # not NaN: both have an interval
            )
        ):
            break
    else:
        reason = numbers.why_unknown("furthest", FURTHEST_DISTANCE)
        if in_nats and not numbers.values(FURTHEST_DISTANCE):
            reason = "no text has a second word to attend to"
        return make_answer(question, UNKNOWN, reason, in_nats)
    others = () if share_name == FURTHEST_DISTANCE else numbers.known(FURTHEST_DISTANCE)
    is_exact = not upper.value - share.value > 1e-9
    findings = (share, *([] if is_exact else [upper]), *others, *in_nats)
    thresholds = question.thresholds[share_name]
    # The further another attention may be, the less this one is the only story.
    answer, is_open = thresholds.judge(share.low, upper.high)
    distance = f"{percent(share.value)} of the maximum distance"
    searched = "" if is_exact else "found "
    same = "prediction" if share_name == FURTHEST_DISTANCE else "log-odds"
    because = f"the furthest attention {searched}with the same {same} is {distance} away"
    partly = f"other attention fits the same prediction almost as well ({distance})"
    addition = OPEN if is_open else ""
    if is_open:
        partly = f"how different attention with the same prediction can be is unclear {TOO_WIDE}"
    if not is_exact and answer == PARTLY:
        addition = "; the search may have missed a further one"
        partly = "very different attention with the same prediction cannot be ruled out"
        if share.value >= thresholds.yes:
            partly = (
                f"other attention fits the same prediction almost as well (at least {distance})"
            )
    if answer == YES and (group := _group_against(numbers, upper_name, thresholds)) is not None:
        answer, is_open = PARTLY, True
        addition = f"; for {describe_group(group)} a very different one cannot be ruled out"
        partly = f"for {describe_group(group)} other attention may fit as well"
    return make_answer(
        question, answer, because + addition, findings, partly=partly, is_open=is_open
    )


def _group_against(numbers: Numbers, upper_name: str, thresholds: Thresholds) -> str | None:
    """The group for which a very different attention is most likely, if for any."""
    against: dict[str, Finding] = {}
    for group in numbers.judged_groups(upper_name, numbers.groups):
        upper = numbers(upper_name, group)
        if upper is not None and not thresholds.rules_out_no(upper.low, upper.high):
            against[group] = upper
    return max(against, key=lambda group: against[group].high) if against else None
