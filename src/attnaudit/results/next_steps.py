"""What would settle what a card leaves open: each step in words, with the command for it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from attnaudit.results.audit_command import audit_command
from attnaudit.results.audit_names import bare
from attnaudit.results.card import Answer, Finding
from attnaudit.results.questions import DECIDING, NO, PARTLY, UNKNOWN, YES, Question, Thresholds
from attnaudit.results.recommendation import may_be_shown, recommendation, recommended
from attnaudit.results.reliability import recommendation_reliability

_MOST = 100_000  # texts; beyond, a number lies on its threshold for all practical purposes
_MARGIN = 1.1  # the interval after as many texts as are computed would just touch the threshold
_SAMPLED = {"top_words": 100}  # audits that read some of the texts, with how many


class Step(NamedTuple):
    """What to do, in a sentence, and the command or call that does it, if there is one."""

    text: str
    command: str = ""


def next_steps(
    answers: Mapping[Question | None, Answer],
    decision: str,
    texts: int,
    about: Mapping[str, Any],
) -> tuple[Step, ...]:
    """The steps after a card, the most useful first.

    Parameters
    ----------
    answers : by question.
    decision : of the card.
    texts : how many were audited.
    about : what is stored about the audit. `about["texts"]["call"]` is what `attnaudit audit` was
        called with; without it, steps are calls of `attnaudit.audit`.
    """
    call = about.get("texts", {}).get("call")
    instead = tuple(_instead(decision, call, about))
    if decision == NO:  # nothing that is open could change it
        return instead
    return (
        *instead,
        *_more_texts(answers, texts, call, about),
        *_missing(answers, call),
        *_other_training(answers, call, about),
    )


def _instead(
    decision: str, call: Mapping[str, Any] | None, about: Mapping[str, Any]
) -> Iterator[Step]:
    """The explanation to show, or how to find one."""
    ranking: Sequence[Mapping[str, Any]] = about.get("explanation_ranking", ())
    if ranking:
        best = recommended(ranking, decision)
        command = reliability = ""
        if best is not None and may_be_shown(best):
            reliability = recommendation_reliability(best.get("texts", 0))
            name = best["explanation"]
            command = f'results.to_heatmaps("heatmaps.html", explanation="{name}")'
            if call is not None:
                out = call.get("out") or "audit"
                command = f"attnaudit heatmaps {out} --explanation {name} --out heatmaps.html"
        yield Step(f"{recommendation(ranking, decision)} {reliability}".rstrip(), command)
    elif decision in (NO, PARTLY):
        command = 'attnaudit.audit(model, texts, explanations="all")'
        if call is not None:
            command = audit_command(call, explanations="all")
        yield Step("See which explanation may be shown instead.", command)


def _more_texts(
    answers: Mapping[Question | None, Answer],
    texts: int,
    call: Mapping[str, Any] | None,
    about: Mapping[str, Any],
) -> Iterator[Step]:
    """How many texts would settle the answers that more texts might change."""
    needed: dict[str, int] = {}  # audit -> texts
    for question in DECIDING:
        answer = answers.get(question)
        if answer is None or not answer.is_open or not answer.findings:
            continue
        finding = answer.findings[0]
        audit = bare(finding.name.partition("/")[0])
        read = min(texts, _SAMPLED.get(audit, texts))
        count = texts_needed(finding, _thresholds(question, finding), read)
        if count is not None:
            needed[audit] = max(needed.get(audit, 0), rounded_up(count))
    if not needed:
        return
    count = max(needed.values())
    if count > _MOST:
        yield Step(
            f"More texts will hardly settle it (some {count:,}): a number lies at its threshold."
        )
        return
    sampled = [name for name in _SAMPLED if needed.get(name, 0) > _SAMPLED[name]]
    audits = ",".join(["default", *(f"{name}:texts={needed[name]}" for name in sampled)])
    most = max(needed, key=needed.__getitem__)
    known = f"{texts:,} were audited"
    if most in _SAMPLED:
        known = f"{most} read {min(texts, _SAMPLED[most]):,} of {texts:,}"
    text = f"About {count:,} texts would settle what is open ({known})."
    there = about.get("texts", {}).get("read")
    if call is None:
        chosen = ", ".join(repr(name) for name in audits.split(","))
        command = f"attnaudit.audit(model, texts, audits=[{chosen}])"
        yield Step(text, command if sampled else "")
        return
    changes: dict[str, Any] = {"audits": audits} if sampled else {}
    if there is not None and there < count:
        text += f" The data has {there:,}: add more."
        changes["sample"] = None
    else:
        changes["sample"] = count
    yield Step(text, audit_command(call, **changes))


def texts_needed(finding: Finding, thresholds: Thresholds | None, texts: int) -> int | None:
    """About how many texts would move the interval of a number off the nearest threshold.

    The half-width of an interval falls with the square root of the number of texts. None if that
    is unknown, or if the number lies on the threshold.

    Parameters
    ----------
    finding : with its interval.
    thresholds : that it is judged by.
    texts : that it is from.
    """
    if thresholds is None:
        return None
    value, low, high = finding.value, finding.low, finding.high
    if thresholds.relative:
        value, low, high = finding.relative, finding.relative_low, finding.relative_high
    half = (high - low) / 2
    crossed = [end for end in (thresholds.yes, thresholds.no) if low <= end <= high]
    if math.isnan(half) or not crossed:
        return None
    distance = min(abs(value - end) for end in crossed)
    if distance == 0:
        return None
    return math.ceil(_MARGIN * texts * (half / distance) ** 2)


def rounded_up(count: int) -> int:
    """A count in two significant digits, rounded up: an estimate has no more.

    Examples
    --------
    >>> rounded_up(44_175), rounded_up(101), rounded_up(99)
    (45000, 110, 99)
    """
    unit = 10 ** max(len(str(count)) - 2, 0)
    return -(-count // unit) * unit


def _thresholds(question: Question, finding: Finding) -> Thresholds | None:
    audit, _, rest = finding.name.partition("/")
    return question.thresholds.get(f"{bare(audit)}/{rest}")


def _missing(
    answers: Mapping[Question | None, Answer], call: Mapping[str, Any] | None
) -> Iterator[Step]:
    """Audits that were not run."""
    open_questions = [
        question
        for question in DECIDING
        if (answer := answers.get(question)) is None
        or (answer.answer == UNKNOWN and "was not run" in answer.because)
    ]
    if open_questions:
        command = "attnaudit.audit(model, texts)"
        if call is not None:
            command = audit_command(call, audits=None)
        yield Step("Run the audits that are missing.", command)


def _other_training(
    answers: Mapping[Question | None, Answer],
    call: Mapping[str, Any] | None,
    about: Mapping[str, Any],
) -> Iterator[Step]:
    """Other trainings, if the card would be a yes but for them."""
    stable = answers.get(Question.STABLE)
    points = answers.get(Question.POINTS)
    if stable is None or points is None or "stability" in about.get("audits", ()):
        return
    if points.answer != YES or stable.answer not in (YES, PARTLY):
        return
    command = "attnaudit.audit(model, texts, other_models=[other_training])"
    if call is not None:
        command = audit_command(call, other_models="FOLDER_OF_ANOTHER_TRAINING")
    yield Step("Whether another training attends to the same words is not known.", command)
