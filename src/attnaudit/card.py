"""The card: five questions, each answered from named audits, with interval, floor, ceiling and blind spot.

The rules are in docs/card.md. Never one number without the others; "cannot tell" when what could see the failure did not run.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

YES, PARTLY, NO, UNKNOWN = "yes", "partly", "no", "cannot tell"


@dataclass(frozen=True)
class Finding:
    """One number behind an answer."""

    name: str  # audit/metric or audit/metric@measure
    meaning: str
    value: float
    low: float
    high: float
    floor: float
    ceiling: float
    nan_share: float

    def __str__(self) -> str:
        return (
            f"{self.meaning}: {_number(self.value)} [{_number(self.low)}, {_number(self.high)}] "
            f"(floor {_number(self.floor)}, ceiling {_number(self.ceiling)})"
        )


@dataclass(frozen=True)
class Answer:
    question: str
    answer: str
    because: str
    findings: tuple[Finding, ...]
    blind: str  # what these audits cannot see


@dataclass(frozen=True)
class Card:
    answers: tuple[Answer, ...]

    def __getitem__(self, question: str) -> Answer:
        """card["needed?"]"""
        for answer in self.answers:
            if answer.question == question:
                return answer
        asked = ", ".join(repr(answer.question) for answer in self.answers)
        raise KeyError(f"The card has no question {question!r}; it has {asked}.")

    def as_dict(self) -> dict[str, Any]:
        return {"questions": [asdict(answer) for answer in self.answers]}

    def __str__(self) -> str:
        lines = []
        for answer in self.answers:
            lines.append(f"{answer.question:32s} {answer.answer.upper()}: {answer.because}")
            lines += [f"{'':32s}   {finding}" for finding in answer.findings]
            lines.append(f"{'':32s}   cannot see: {answer.blind}")
        return "\n".join(lines)


def make_card(summaries: pd.DataFrame, about: dict[str, Any]) -> Card:
    """From the summary alone, so that a stored run gives the same card."""
    look = _Lookup(summaries)
    return Card(
        (_needed(look), _matters(look), _points(look, about), _only_story(look), _stable()),
    )


class _Lookup:
    """Findings by name out of the overall summary."""

    def __init__(self, summaries: pd.DataFrame) -> None:
        overall = summaries[summaries["group"] == "all"]
        # The mean over rows stands for all of them where a site has several.
        overall = overall.sort_values("row", kind="stable").drop_duplicates(["audit", "measure", "metric"])
        self._by: dict[tuple[str, str, str], Any] = {}
        for line in overall.itertuples():
            # Options are part of an audit's name ("furthest:epsilon=0.05"). The card asks for the audit, and for the one
            # without options where several were run.
            bare, _, options = str(line.audit).partition(":")
            key = (bare, str(line.measure), str(line.metric))
            if not options or key not in self._by:
                self._by[key] = line

    def __call__(self, audit: str, metric: str, meaning: str, measure: str = "") -> Finding | None:
        line: Any = self._by.get((audit, measure, metric))
        if line is None or math.isnan(line.mean):
            return None
        name = f"{audit}/{metric}" + (f"@{measure}" if measure else "")
        return Finding(
            name, meaning, line.mean, line.low, line.high, line.floor, line.ceiling, line.nan_share
        )


def _needed(look: _Lookup) -> Answer:
    drop = look("uniform_attention", "accuracy_drop", "accuracy lost under uniform attention")
    flips = look("uniform_attention", "flipped", "decisions changed by uniform attention")
    blind = "a model trained with uniform attention might do as well: this one was not retrained"
    found = tuple(f for f in (drop, flips) if f is not None)
    question = "needed?"
    if not found:
        return Answer(question, UNKNOWN, "uniform attention was not tried", (), blind)
    key = found[0]
    said = (
        f"with uniform attention, accuracy falls by {_number(key.value)}"
        if key is drop
        else f"uniform attention changes {_percent(key.value)} of decisions"
    )
    answer = YES if key.low > 0.02 else NO if key.high < 0.02 else PARTLY
    return Answer(question, answer, said, found, blind)


def _matters(look: _Lookup) -> Answer:
    shuffle = look("permutation", "tvd_median", "median change when weights are shuffled")
    top = look("top_item", "flips_top", "decision flips without the top item")
    fraction = look(
        "flip_fraction", "removed", "share of items removed until a flip, by attention", "attention"
    )
    found = tuple(f for f in (shuffle, top, fraction) if f is not None)
    blind = "whether the weights stand on the right words (a shifted model passes)"
    question = "does it matter?"
    if shuffle is None:
        return Answer(question, UNKNOWN, "the weights were not shuffled", found, blind)
    change = f"shuffling the weights moves the prediction by {_number(shuffle.value)}"
    if shuffle.low > 0.1:
        return Answer(question, YES, change, found, blind)
    if shuffle.high < 0.02:
        return Answer(question, NO, change, found, blind)
    return Answer(question, PARTLY, change, found, blind)


def _points(look: _Lookup, about: dict[str, Any]) -> Answer:
    question, blind = (
        "does it point at what matters?",
        "whether the weights change anything (an inert model passes)",
    )
    witnesses = [
        finding
        for measure in ("leave_one_out", "gradient")
        if (finding := look("agreement", "tau", f"rank agreement with {measure}", measure)) is not None
    ]
    truth = look("evidence", "hit", "the most attended item is known evidence", "attention")
    beside = [
        look("evidence", "mass", "attention on known evidence", "attention"),
        look("evidence", "auprc", "ranks all of the known evidence first (AUPRC)", "attention"),
    ]
    found = tuple(f for f in (truth, *beside, *witnesses) if f is not None)
    if truth is not None:  # the known truth outranks measures that only stand in for it
        key, why = truth, "of the way from a random item to always the known evidence"
    elif witnesses:
        # The less favourable witness decides.
        key = min(witnesses, key=lambda finding: _relative(finding, finding.value))
        why = "of the agreement that measures have among themselves"
    else:
        return Answer(question, UNKNOWN, "no measure and no known evidence to compare with", found, blind)
    low, share, high = (_relative(key, value) for value in (key.low, key.value, key.high))
    if math.isnan(share):
        return Answer(question, UNKNOWN, "floor and ceiling are not apart", found, blind)
    said = f"{_percent(share)} {why}" if share > 0 else "no better than random"
    answer = YES if low > 0.75 else NO if high < 0.4 else PARTLY
    return Answer(question, answer, said, found, blind)


def _relative(finding: Finding, value: float) -> float:
    """Where a value lies between the finding's floor (0) and ceiling (1)."""
    room = finding.ceiling - finding.floor
    return (value - finding.floor) / room if room > 0.02 else math.nan


def _only_story(look: _Lookup) -> Answer:
    jsd = look("furthest", "jsd", "furthest attention with the same prediction (JSD, nats)")
    upper = look("furthest", "upper", "no such attention is further than")
    found = tuple(f for f in (jsd, upper) if f is not None)
    question, blind = (
        "is it the only story?",
        "whether the one story is told about the right words (a shifted model passes)",
    )
    if jsd is None or upper is None:
        return Answer(question, UNKNOWN, "no equivalent attention was looked for", found, blind)
    said = "no other attention is possible"
    if jsd.ceiling > 0:
        said = f"the same prediction allows attention {_percent(jsd.value / jsd.ceiling)} as far away as any could be"
    if jsd.low > 0.45:
        return Answer(question, NO, said, found, blind)
    if upper.high < 0.25:
        return Answer(question, YES, said, found, blind)
    return Answer(question, PARTLY, said, found, blind)


def _stable() -> Answer:
    return Answer(
        "is it stable?",
        UNKNOWN,
        "only one model was audited; train it again with other seeds",
        (),
        "everything",
    )


def _number(value: float) -> str:
    return (
        "–" if math.isnan(value) else f"{value:.2f}" if abs(value) >= 0.005 or value == 0 else f"{value:.0e}"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
