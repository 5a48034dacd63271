"""The rules of the card: which numbers answer which question; docs/card.md states them.

The thresholds and deciding metrics are in questions.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from attnaudit.results.audit_names import resolve_audit_name
from attnaudit.results.card import Answer, Card, Finding
from attnaudit.results.number_formats import number, percent
from attnaudit.results.questions import PARTLY, UNKNOWN, YES, Question
from attnaudit.results.rows import METRIC_KEY, one_line_per_metric

# Below this tau two rankings do not agree enough: of the reference measures with each other, to
# judge attention; of two trainings, to call attention stable.
_MIN_AGREEMENT = 0.2
_MIN_ROOM = 0.02  # between floor and ceiling, to tell a good value from a bad one
_FEW_EXAMPLES = 50
_MIN_VALUES = 5  # resamples of fewer are all alike, so that their interval means nothing
# The share of texts that must have floor and ceiling, or the same decision in other trainings; the
# card says so if there are fewer.
_MIN_SHARE = 0.9
_NO_REFERENCE = (
    "there is no known evidence, and neither gradients nor leave-one-out to compare with"
)
_OPEN = "; the interval is too wide for a clear answer"
_TOO_WIDE = "(the interval is too wide)"
_NO_OTHER_TRAINING = "what another training would attend to"  # the blind spot without any
# The measures that attention is compared with, as the card names them.
_REFERENCES = {"leave_one_out": "leave-one-out", "gradient": "gradients"}
# What each number of the card is, in words.
_MEANINGS = {
    "uniform_attention/accuracy_drop": "accuracy lost under uniform attention",
    "uniform_attention/flipped": "decisions that change under uniform attention",
    "uniform_attention/correct": "accuracy",
    "permutation/tvd_median": "median change of the probabilities when the weights are shuffled",
    "top_item/flips_top": "decisions that flip without the most attended word",
    "flip_fraction/removed@attention": "share of words to remove, most attended first, until the "
    "decision flips (lower is better)",
    **{
        f"agreement/tau@{measure}": f"rank agreement (Kendall's tau) with {words}"
        for measure, words in _REFERENCES.items()
    },
    "evidence/hit@attention": "texts whose most attended word is known evidence",
    "evidence/mass@attention": "share of attention on known evidence",
    "evidence/auprc@attention": "known evidence ranked first (AUPRC)",
    "furthest/jsd_share": "distance to the furthest attention with the same prediction "
    "(1: the maximum)",
    "furthest/upper_share": "distance beyond which no attention gives the same prediction",
    "furthest/jsd": "the distance in nats (Jensen–Shannon divergence, JSD; never more than 0.69)",
    "stability/jsd_share": "distance to another training's attention (1: the maximum)",
    "stability/tau": "rank agreement (Kendall's tau) with another training's attention",
    "stability/same_decision": "same decision in another training",
}


def make_card(summaries: pd.DataFrame, about: dict[str, Any]) -> Card:
    """Answer the five questions from the summary alone, so that a stored run gives the same card.

    Parameters
    ----------
    summaries : the summary, one line per audit, measure, metric, row and group.
    about : what is stored about the audit (`Results.about`).

    Returns
    -------
    Card

    Examples
    --------
    >>> columns = ["audit", "measure", "metric", "row", "group", "count"]
    >>> make_card(pd.DataFrame(columns=columns), about={}).accuracy
    'Accuracy unknown: no labels.'
    """
    numbers = _Numbers(summaries)
    answers = (
        _needed(numbers),
        _matters(numbers),
        _points(numbers),
        _only_story(numbers),
        _stable(numbers, about),
    )
    return Card(answers, tuple(_cautions(numbers, about)), _accuracy(numbers, about))


class _Numbers:
    """The numbers of the overall summary, by name."""

    def __init__(self, summaries: pd.DataFrame) -> None:
        overall = summaries[summaries["group"] == "all"]
        self.count = int(overall["count"].max()) if len(overall) else 0  # examples
        lines = one_line_per_metric(overall).drop_duplicates(METRIC_KEY)
        self._by_key = {
            (str(line.audit), str(line.measure), str(line.metric)): line
            for line in lines.itertuples()
        }
        self._audits = list(dict.fromkeys(audit for audit, _, _ in self._by_key))

    def __call__(self, name: str) -> Finding | None:
        """The number "audit/metric" or "audit/metric@measure", if it can decide anything.

        It cannot without an interval, nor if it is undefined for all but a few examples.
        """
        audit, _, rest = name.partition("/")
        metric, _, measure = rest.partition("@")
        stored_audit = resolve_audit_name(audit, self._audits) or audit
        line: Any = self._by_key.get((stored_audit, measure, metric))
        if line is None or math.isnan(line.low):
            return None
        if round(line.count * (1 - line.nan_share)) < _MIN_VALUES:
            return None
        return Finding(
            name=f"{line.audit}/{rest}",
            meaning=_MEANINGS[name],
            value=line.mean,
            low=line.low,
            high=line.high,
            floor=line.floor,
            ceiling=line.ceiling,
            nan_share=line.nan_share,
            compared=getattr(line, "compared", 1.0),
        )

    def known(self, *names: str) -> tuple[Finding, ...]:
        """Those of the named numbers that can decide something."""
        return tuple(finding for name in names if (finding := self(name)) is not None)

    def why_unknown(self, audit: str) -> str:
        """Why an audit has no number to decide by."""
        if not self.ran(audit):
            return f"the audit {audit} was not run"
        return (
            f"the audit {audit} has too few values for an interval: "
            f"at least {_MIN_VALUES} are needed"
        )

    def ran(self, audit: str) -> bool:
        return resolve_audit_name(audit, self._audits) is not None


def _answer(
    question: Question,
    answer: str,
    because: str,
    findings: tuple[Finding, ...] = (),
    *,
    blind: str | None = None,
    partly: str = "",
) -> Answer:
    blind = question.blind_spot if blind is None else blind
    return Answer(question.wording, answer, because, findings, blind, partly)


def _judge(question: Question, low: float, high: float) -> tuple[str, str]:
    """The answer, and what to add to its reason."""
    answer, is_open = question.thresholds.judge(low, high)
    return answer, _OPEN if is_open else ""


def _needed(numbers: _Numbers) -> Answer:
    question = Question.NEEDED
    findings = numbers.known(*question.metrics)
    if not findings:
        return _answer(question, UNKNOWN, numbers.why_unknown("uniform_attention"))
    deciding = findings[0]
    if deciding.name.endswith("/accuracy_drop"):
        because = _accuracy_change(deciding.value)
    else:
        because = f"uniform attention changes {percent(deciding.value)} of the decisions"
    answer, addition = _judge(question, deciding.low, deciding.high)
    return _answer(question, answer, because + addition, findings)


def _accuracy_change(drop: float) -> str:
    if abs(drop) < 0.005:
        return "with uniform attention, accuracy stays the same"
    verb = "falls" if drop > 0 else "rises"
    return f"with uniform attention, accuracy {verb} by {number(abs(drop), 2)}"


def _matters(numbers: _Numbers) -> Answer:
    question = Question.MATTERS
    (name,) = question.metrics
    shuffled = numbers(name)
    findings = numbers.known(name, "top_item/flips_top", "flip_fraction/removed@attention")
    if shuffled is None:
        return _answer(question, UNKNOWN, numbers.why_unknown("permutation"), findings)
    effect = f"changes the probabilities by {number(shuffled.value, 2)}"
    answer, addition = _judge(question, shuffled.low, shuffled.high)
    because = f"shuffling the weights {effect} (0: not at all, 1: completely){addition}"
    partly = f"the weights matter only in part (shuffling them {effect})"
    if addition:
        partly = f"how much the weights matter is unclear {_TOO_WIDE}"
    return _answer(question, answer, because, findings, partly=partly)


def _points(numbers: _Numbers) -> Answer:
    question = Question.POINTS
    evidence_name, *reference_names = question.metrics
    evidence = numbers(evidence_name)
    references = [_with_note(finding) for finding in numbers.known(*reference_names)]
    if evidence is None and not references:
        return _answer(question, UNKNOWN, _why_nothing_to_compare(numbers))
    # Known evidence outranks measures that only stand in for it; of those, the less favourable one
    # decides.
    deciding = evidence or min(references, key=lambda finding: _relative(finding, finding.value))
    others = numbers.known("evidence/mass@attention", "evidence/auprc@attention")
    findings = (deciding, *(each for each in (*others, *references) if each is not deciding))
    is_evidence = evidence is not None
    if (reason := _why_no_scale(deciding, is_evidence=is_evidence)) is not None:
        return _answer(question, UNKNOWN, reason, findings)
    low, share, high = (
        _relative(deciding, value) for value in (deciding.low, deciding.value, deciding.high)
    )
    answer, addition = _judge(question, low, high)
    partly = (
        f"it points at what matters only in part ({percent(share)} of the way from random to the "
        "best possible)"
    )
    if addition:
        partly = f"how well it points at what matters is unclear {_TOO_WIDE}"
    because = _how_far(share, deciding.note, is_evidence=is_evidence) + addition
    if deciding.compared < _MIN_SHARE:
        because += (
            f"; floor and ceiling are known for only {percent(deciding.compared)} of the texts"
        )
    return _answer(question, answer, because, findings, partly=partly)


def _why_nothing_to_compare(numbers: _Numbers) -> str:
    """Why there is neither known evidence nor a reference measure to compare attention with."""
    ran = [audit for audit in ("agreement", "evidence") if numbers.ran(audit)]
    if not ran:
        return "the audits agreement and evidence were not run"
    return numbers.why_unknown(ran[0]) if numbers.count < _MIN_VALUES else _NO_REFERENCE


def _with_note(finding: Finding) -> Finding:
    """Explain an agreement above its ceiling, the agreement of the two reference measures."""
    if not finding.value > finding.ceiling:
        return finding
    measure = finding.name.rpartition("@")[2]
    (other,) = (words for name, words in _REFERENCES.items() if name != measure)
    words = _REFERENCES[measure]
    note = (
        f"above the ceiling: attention agrees with {words} more than {words} and {other} agree "
        "with each other"
    )
    return replace(finding, note=note)


def _why_no_scale(finding: Finding, *, is_evidence: bool) -> str | None:
    """Why a value cannot be placed between floor and ceiling, or None if it can."""
    if math.isnan(finding.floor):
        return "there is no floor to compare with: the measure random was left out"
    if math.isnan(finding.ceiling):
        return (
            "there is no ceiling to compare with: it needs both measures, gradient and "
            "leave_one_out"
        )
    if not is_evidence and finding.ceiling < _MIN_AGREEMENT:
        return (
            "gradients and leave-one-out barely agree with each other "
            f"(tau {finding.ceiling:.3f}, below {_MIN_AGREEMENT}), so they cannot judge attention"
        )
    if finding.ceiling - finding.floor <= _MIN_ROOM:
        return "floor and ceiling are too close to tell a good value from a bad one"
    return None


def _how_far(share: float, note: str, *, is_evidence: bool) -> str:
    if share <= 0:
        return "no better than random"
    if is_evidence:
        return (
            f"{percent(share)} of the way from choosing a random word to always choosing known "
            "evidence"
        )
    if share >= 1:
        return note or (
            "attention agrees with the reference measures as well as they agree with each other"
        )
    return (
        f"{percent(share)} of the way from random agreement to that of gradients and "
        "leave-one-out with each other"
    )


def _relative(finding: Finding, value: float) -> float:
    """Where a value lies between the finding's floor (0) and ceiling (1)."""
    room = finding.ceiling - finding.floor
    return (value - finding.floor) / room if room > 0 else math.nan


def _only_story(numbers: _Numbers) -> Answer:
    question = Question.ONLY_STORY
    share, upper = (numbers(name) for name in question.metrics)
    in_nats = numbers.known("furthest/jsd")
    if share is None or upper is None:
        reason = (
            "no text has a second word to attend to" if in_nats else numbers.why_unknown("furthest")
        )
        return _answer(question, UNKNOWN, reason, in_nats)
    is_exact = not upper.value - share.value > 1e-9
    findings = (share, *([] if is_exact else [upper]), *in_nats)
    distance = f"{percent(share.value)} of the maximum distance"
    searched = "" if is_exact else "found "
    because = f"the furthest attention {searched}with the same prediction is {distance} away"
    # The further another attention may be, the less this one is the only story.
    answer, addition = _judge(question, share.low, upper.high)
    partly = f"other attention fits the same prediction almost as well ({distance})"
    if addition:
        partly = f"how different attention with the same prediction can be is unclear {_TOO_WIDE}"
    if not is_exact and answer == PARTLY:
        addition = "; the search may have missed a further one"
        partly = "very different attention with the same prediction cannot be ruled out"
        if share.value >= question.thresholds.yes:
            partly = (
                f"other attention fits the same prediction almost as well (at least {distance})"
            )
    return _answer(question, answer, because + addition, findings, partly=partly)


def _stable(numbers: _Numbers, about: dict[str, Any]) -> Answer:
    question = Question.STABLE
    (name,) = question.metrics
    share, tau, same = (
        numbers(each) for each in (name, "stability/tau", "stability/same_decision")
    )
    findings = numbers.known(name, "stability/tau", "stability/same_decision")
    if share is None:
        ran = numbers.ran("stability")
        reason = numbers.why_unknown("stability") if ran else _how_to_compare(about)
        findings = numbers.known("stability/same_decision")
        return _answer(question, UNKNOWN, reason, findings, blind=_NO_OTHER_TRAINING)
    because = (
        "where another training decides the same, its attention is "
        f"{percent(share.value)} of the maximum distance away"
    )
    answer, addition = _judge(question, share.low, share.high)
    # Nearly uniform attention is close to itself in every training, however its weights are ranked.
    if answer == YES and not (tau is not None and tau.low > _MIN_AGREEMENT):
        answer = PARTLY
        if tau is None or tau.value <= _MIN_AGREEMENT:
            because += ", but it ranks the words differently"
        else:
            because += "; whether it ranks the words alike is unclear"
        because += f" (tau {number(None if tau is None else tau.value, 2)})"
    if same is not None and same.value < _MIN_SHARE:
        because += f"; only {percent(same.value)} of the decisions are the same"
    return _answer(question, answer, because + addition, findings)


def _how_to_compare(about: dict[str, Any]) -> str:
    """How to give other trainings, in the interface that made these results."""
    how = "pass others as other_models=[…]"
    # All results that were read back have "run"; only those of `attnaudit run` have choices.
    if "choices" in about.get("run", {}):
        how = "train two more with --other-seeds 2"
    elif "texts" in about:
        how = "name the folder of another with --other-models"
    return f"one training cannot show it; {how}"


def _accuracy(numbers: _Numbers, about: dict[str, Any]) -> str:
    """Accuracy on the audited texts next to the majority-class baseline, or why it is unknown."""
    correct, stored = numbers("uniform_attention/correct"), about.get("accuracy")
    majority = about.get("majority")
    if correct is not None:
        stored = {"mean": correct.value, "low": correct.low, "high": correct.high}
    if stored is None:
        reason = "no labels" if majority is None else "the audit uniform_attention was not run"
        return f"Accuracy unknown: {reason}."
    mean, low, high = (number(stored[key], 2) for key in ("mean", "low", "high"))
    interval = "" if stored["low"] is None else f" [{low}, {high}]"  # a single text has none
    baseline = "" if majority is None else f"; majority-class baseline {number(majority, 2)}"
    return f"Accuracy {mean}{interval} on {_texts(numbers.count)}{baseline}."


def _cautions(numbers: _Numbers, about: dict[str, Any]) -> Iterator[str]:
    count = numbers.count
    if count == 1:
        yield "only one example was audited, so there are no intervals"
    elif 0 < count < _FEW_EXAMPLES:
        yield (
            f"only {count} examples were audited; intervals are rough with fewer than "
            f"{_FEW_EXAMPLES}"
        )
    if cut := about.get("truncated"):
        are, were = ("is", "was") if cut == 1 else ("are", "were")
        yield f"{cut} of {_texts(count)} {are} longer than the model can read and {were} cut"
    other = numbers("stability/jsd_share")
    if other is not None and other.value == 0:
        yield (
            "the other training has exactly the same attention; check that it is not the same model"
        )
    correct, majority = numbers("uniform_attention/correct"), about.get("majority")
    if correct is not None and majority is not None and correct.low <= majority:
        better = "barely" if correct.value > majority else "not"
        mean, low, high = (number(each, 2) for each in (correct.value, correct.low, correct.high))
        yield (
            f"the model is {better} better than the majority-class baseline (accuracy {mean} "
            f"[{low}, {high}], baseline {number(majority, 2)}), so there may be nothing to explain"
        )


def _texts(count: int) -> str:
    return f"{count} text{'' if count == 1 else 's'}"
