"""The rules of the card: which numbers answer which question, and from where a number is a yes. They are told in docs/card.md."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from attnaudit.audit_names import answering
from attnaudit.card import NO, PARTLY, UNKNOWN, YES, Answer, Card, Finding, number

# Below this the measures do not agree enough with each other to be asked about the attention.
_LEAST_AGREEMENT = 0.2
_FEW = 50  # examples
_LEAST = 5  # resamples of fewer examples are all alike, and their interval is none
_MOST = 0.9  # of the texts must have a floor and a ceiling, or be decided alike by other trainings; if fewer, it is said


def make_card(summaries: pd.DataFrame, about: dict[str, Any]) -> Card:
    """From the summary alone, so that a stored run gives the same card."""
    look = _Lookup(summaries)
    answers = (_needed(look), _matters(look), _points(look), _only_story(look), _stable(look))
    return Card(answers, tuple(_cautions(look, about)))


class _Lookup:
    """Findings by name out of the overall summary."""

    def __init__(self, summaries: pd.DataFrame) -> None:
        overall = summaries[summaries["group"] == "all"]
        self.count = int(overall["count"].max()) if len(overall) else 0  # examples
        # The mean over rows stands for all of them where a site has several.
        overall = overall.sort_values("row", kind="stable").drop_duplicates(["audit", "measure", "metric"])
        self._by = {
            (str(line.audit), str(line.measure), str(line.metric)): line for line in overall.itertuples()
        }
        self._audits = list(dict.fromkeys(audit for audit, _, _ in self._by))

    def __call__(self, audit: str, metric: str, meaning: str, measure: str = "") -> Finding | None:
        line: Any = self._by.get((answering(audit, self._audits) or audit, measure, metric))
        # A number without an interval to speak of decides nothing: one that is undefined for all but a few examples among them.
        if line is None or math.isnan(line.low) or round(line.count * (1 - line.nan_share)) < _LEAST:
            return None
        name = f"{line.audit}/{metric}" + (f"@{measure}" if measure else "")
        return Finding(
            name,
            meaning,
            line.mean,
            line.low,
            line.high,
            line.floor,
            line.ceiling,
            line.nan_share,
            getattr(line, "compared", 1.0),
        )

    def why_not(self, audit: str) -> str:
        """Why an audit has no number to decide by."""
        if not self.ran(audit):
            return f"the audit {audit} was not run"
        return f"the audit {audit} has too few values for an interval; it takes at least {_LEAST} examples"

    def ran(self, audit: str) -> bool:
        return answering(audit, self._audits) is not None


def _needed(look: _Lookup) -> Answer:
    drop = look("uniform_attention", "accuracy_drop", "accuracy lost under uniform attention")
    flips = look("uniform_attention", "flipped", "decisions changed by uniform attention")
    blind = "that a model trained with uniform attention might do as well: this one was not retrained"
    found = tuple(f for f in (drop, flips) if f is not None)
    question = "needed?"
    if not found:
        return Answer(question, UNKNOWN, look.why_not("uniform_attention"), (), blind)
    key = found[0]
    if key is drop:
        changed = f"falls by {number(key.value)}" if key.value >= 0.005 else "stays the same"
        said = f"with uniform attention, accuracy {changed if key.value > -0.005 else f'rises by {number(-key.value)}'}"
    else:
        said = f"uniform attention changes {_percent(key.value)} of decisions"
    answer, open_ = _judged(key.low, key.high, no_below=0.02, yes_above=0.02)
    return Answer(question, answer, said + open_, found, blind)


def _matters(look: _Lookup) -> Answer:
    shuffle = look("permutation", "tvd_median", "median change when weights are shuffled")
    top = look("top_item", "flips_top", "decision flips without the most attended word")
    removed = look(
        "flip_fraction",
        "removed",
        "share of words removed, most attended first, until a flip (less = better)",
        "attention",
    )
    found = tuple(f for f in (shuffle, top, removed) if f is not None)
    blind = "whether the weights stand on the right words: a model whose attention is one word off would pass"
    question = "does it matter?"
    if shuffle is None:
        return Answer(question, UNKNOWN, look.why_not("permutation"), found, blind)
    change = f"shuffling the weights moves the probabilities by {number(shuffle.value)} (0 not at all, 1 completely)"
    answer, open_ = _judged(shuffle.low, shuffle.high, no_below=0.02, yes_above=0.1)
    return Answer(question, answer, change + open_, found, blind)


def _points(look: _Lookup) -> Answer:
    question = "does it point at what matters?"
    blind = "whether the weights change anything: a model whose attention is idle would pass"
    witnesses = [
        finding
        for measure, words in (("leave_one_out", "leaving each word out"), ("gradient", "gradients"))
        if (finding := look("agreement", "tau", f"rank agreement (tau) with {words}", measure)) is not None
    ]
    truth = look("evidence", "hit", "the most attended word is known evidence", "attention")
    beside = [
        look("evidence", "mass", "attention on known evidence", "attention"),
        look("evidence", "auprc", "ranks all of the known evidence first (AUPRC)", "attention"),
    ]
    if truth is None and not witnesses:
        ran = look.ran("agreement") or look.ran("evidence")
        reason = "nothing to compare with" if ran else "the audits agreement and evidence were not run"
        if ran and look.count < _LEAST:
            reason = look.why_not("agreement" if look.ran("agreement") else "evidence")
        return Answer(question, UNKNOWN, reason, (), blind)
    # The known truth outranks measures that only stand in for it; of those, the less favourable one decides.
    key = truth or min(witnesses, key=lambda finding: _relative(finding, finding.value))
    others = [f for f in (*beside, *witnesses) if f is not None and f is not key]
    found = (key, *others)
    if (missing := _no_scale(key, is_truth=truth is not None)) is not None:
        return Answer(question, UNKNOWN, missing, found, blind)
    low, share, high = (_relative(key, value) for value in (key.low, key.value, key.high))
    answer, open_ = _judged(low, high, no_below=0.4, yes_above=0.75)
    if key.compared < _MOST:
        open_ += f"; floor and ceiling are known for only {_percent(key.compared)} of the texts"
    return Answer(question, answer, _how_far(share, is_truth=truth is not None) + open_, found, blind)


def _judged(low: float, high: float, *, no_below: float, yes_above: float) -> tuple[str, str]:
    """The answer, and what is to be added where it is open: an interval that lies between the thresholds is "partly" for sure; one that
    reaches over a threshold might be settled by more examples."""
    if low > yes_above:
        return YES, ""
    if high < no_below:
        return NO, ""
    return PARTLY, "" if low >= no_below and high <= yes_above else "; the interval is too wide to say more"


def _no_scale(finding: Finding, *, is_truth: bool) -> str | None:
    """Why a value cannot be placed between floor and ceiling, if it cannot."""
    if math.isnan(finding.floor):
        return "there is no floor: the measure random was left out"
    if math.isnan(finding.ceiling):
        return "there is no ceiling: it takes the measures gradient and leave_one_out"
    if not is_truth and finding.ceiling < _LEAST_AGREEMENT:
        return f"the measures hardly agree with each other (tau {finding.ceiling:.3f}, below {_LEAST_AGREEMENT}), so they are no witnesses"
    return "floor and ceiling are not apart" if finding.ceiling - finding.floor <= 0.02 else None


def _how_far(share: float, *, is_truth: bool) -> str:
    if share <= 0:
        return "no better than random"
    if is_truth:
        return f"{_percent(share)} of the way from a random word to always the known evidence"
    if share >= 1:
        return "agrees with the measures at least as well as they agree with each other"
    return f"{_percent(share)} of the way from random to the agreement of the measures with each other"


def _relative(finding: Finding, value: float) -> float:
    """Where a value lies between the finding's floor (0) and ceiling (1)."""
    room = finding.ceiling - finding.floor
    return (value - finding.floor) / room if room > 0 else math.nan


def _only_story(look: _Lookup) -> Answer:
    share = look(
        "furthest", "jsd_share", "furthest attention with the same prediction, of the furthest possible"
    )
    upper = look("furthest", "upper_share", "upper bound of the line above")
    jsd = look("furthest", "jsd", "the same as a divergence (JSD in nats, at most 0.69)")
    question = "is it the only story?"
    blind = (
        "whether the one story is about the right words: a model whose attention is one word off would pass"
    )
    if share is None or upper is None:
        reason = "no text has a second word to attend to" if jsd is not None else look.why_not("furthest")
        return Answer(question, UNKNOWN, reason, () if jsd is None else (jsd,), blind)
    bounded = upper.value - share.value > 1e-9
    found = tuple(f for f in (share, upper if bounded else None, jsd) if f is not None)
    said = f"the same prediction allows attention {_percent(share.value)} as far away as any could be"
    # The further another attention may be, the less this one is the only story.
    answer, open_ = _judged(-upper.high, -share.low, no_below=-0.65, yes_above=-0.35)
    if bounded and answer == PARTLY:
        open_ = "; the search is not sure to have found the furthest"
    return Answer(question, answer, said + open_, found, blind)


def _stable(look: _Lookup) -> Answer:
    question = "is it stable?"
    blind = "whether what all trainings attend to is right, or needed"
    share = look(
        "stability", "jsd_share", "distance to another training's attention, of the furthest possible"
    )
    tau = look("stability", "tau", "rank agreement (tau) with another training's attention")
    same = look("stability", "same_decision", "other trainings that decide the same")
    if share is None:
        reason = "one training does not show it; give others: other_models=[…], --other-models, or run --other-seeds 2"
        return Answer(question, UNKNOWN, reason, (), "what another training would attend to")
    found = tuple(f for f in (share, tau, same) if f is not None)
    said = f"another training that decides the same attends {_percent(share.value)} as far away as any could"
    if same is not None and same.value < _MOST:
        said += f"; only {_percent(same.value)} of the decisions are the same"
    # Attention that is nearly uniform is near to itself in every training, whatever order its weights are in.
    same_order = tau is not None and tau.low > _LEAST_AGREEMENT
    answer = NO if share.low > 0.65 else YES if share.high < 0.35 and same_order else PARTLY
    if answer == PARTLY and (share.high > 0.65 or share.low < 0.35 <= share.high):
        said += "; the interval is too wide to say more"
    if answer == PARTLY and share.high < 0.35:
        told = f"(tau {number(tau.value) if tau is not None else '–'})"
        unlike = tau is None or tau.value <= _LEAST_AGREEMENT
        said += (
            f", but ranks the words otherwise {told}"
            if unlike
            else f"; whether it ranks the words alike is not sure {told}"
        )
    return Answer(question, answer, said, found, blind)


def _cautions(look: _Lookup, about: dict[str, Any]) -> Iterator[str]:
    count = look.count
    if 0 < count < _FEW:
        told = "one example was" if count == 1 else f"{count} examples were"
        yield f"only {told} audited; " + (
            "one has no interval" if count == 1 else f"intervals are rough below {_FEW}"
        )
    if about.get("truncated"):
        yield f"{about['truncated']} of {count} texts {'is' if about['truncated'] == 1 else 'are'} longer than the model reads and cut"
    other = look("stability", "jsd_share", "")
    if other is not None and other.high == 0:
        yield "the other training attends exactly as this one does: is it the same model?"
    right, majority = look("uniform_attention", "correct", "accuracy"), about.get("majority")
    if right is not None and majority is not None and right.low <= majority:
        yield (
            f"the model is hardly better than always the most frequent class (accuracy {number(right.value)} "
            f"[{number(right.low)}, {number(right.high)}] against {number(majority)}): there may be nothing to explain"
        )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
