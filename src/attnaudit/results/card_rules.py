"""The rules of the card: which numbers answer which question, and from which value on a number is a yes; see docs/card.md."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from attnaudit.results.audit_names import resolve_audit_name
from attnaudit.results.card import NO, PARTLY, UNKNOWN, YES, Answer, Card, Finding, number

# Below this tau the reference measures do not agree enough with each other to judge attention.
_LEAST_AGREEMENT = 0.2
_FEW = 50  # examples
_LEAST = 5  # resamples of fewer examples are all alike, so that their interval means nothing
_MOST = 0.9  # of the texts must have a floor and a ceiling, or the same decision in other trainings; if fewer, the card says so
_NOTHING = "there is no known evidence, and neither gradients nor leave-one-out to compare with"
_OPEN = "; the interval is too wide for a clear answer"
_TOO_WIDE = "(the interval is too wide)"
# The measures that attention is compared with, as the card names them.
_REFERENCES = {"leave_one_out": "leave-one-out", "gradient": "gradients"}


def make_card(summaries: pd.DataFrame, about: dict[str, Any]) -> Card:
    """From the summary alone, so that a stored run gives the same card."""
    look = _Lookup(summaries)
    answers = (
        _needed(look),
        _matters(look),
        _points(look),
        _only_story(look),
        _stable(look, about),
    )
    return Card(answers, tuple(_cautions(look, about)), _accuracy(look, about))


class _Lookup:
    """Findings by name out of the overall summary."""

    def __init__(self, summaries: pd.DataFrame) -> None:
        overall = summaries[summaries["group"] == "all"]
        self.count = int(overall["count"].max()) if len(overall) else 0  # examples
        # The mean over rows stands for all of them where a site has several.
        overall = overall.sort_values("row", kind="stable").drop_duplicates(
            ["audit", "measure", "metric"]
        )
        self._by = {
            (str(line.audit), str(line.measure), str(line.metric)): line
            for line in overall.itertuples()
        }
        self._audits = list(dict.fromkeys(audit for audit, _, _ in self._by))

    def __call__(self, audit: str, metric: str, meaning: str, measure: str = "") -> Finding | None:
        line: Any = self._by.get(
            (resolve_audit_name(audit, self._audits) or audit, measure, metric)
        )
        # A number without a meaningful interval decides nothing; nor does one that is undefined for all but a few examples.
        if (
            line is None
            or math.isnan(line.low)
            or round(line.count * (1 - line.nan_share)) < _LEAST
        ):
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
        return f"the audit {audit} has too few values for an interval: at least {_LEAST} are needed"

    def ran(self, audit: str) -> bool:
        return resolve_audit_name(audit, self._audits) is not None


def _needed(look: _Lookup) -> Answer:
    drop = look("uniform_attention", "accuracy_drop", "accuracy lost under uniform attention")
    flips = look("uniform_attention", "flipped", "decisions that change under uniform attention")
    blind = "whether a model trained with uniform attention would do as well: this model was not retrained"
    found = tuple(f for f in (drop, flips) if f is not None)
    question = "needed?"
    if not found:
        return Answer(question, UNKNOWN, look.why_not("uniform_attention"), (), blind)
    key = found[0]
    said = (
        _lost(key.value)
        if key is drop
        else f"uniform attention changes {_percent(key.value)} of the decisions"
    )
    answer, open_ = _judged(key.low, key.high, no_below=0.02, yes_above=0.02)
    return Answer(question, answer, said + open_, found, blind)


def _lost(drop: float) -> str:
    if abs(drop) < 0.005:
        return "with uniform attention, accuracy stays the same"
    return f"with uniform attention, accuracy {'falls' if drop > 0 else 'rises'} by {number(abs(drop))}"


def _matters(look: _Lookup) -> Answer:
    shuffle = look(
        "permutation",
        "tvd_median",
        "median change of the probabilities when the weights are shuffled",
    )
    top = look("top_item", "flips_top", "decisions that flip without the most attended word")
    removed = look(
        "flip_fraction",
        "removed",
        "share of words to remove, most attended first, until the decision flips (lower is better)",
        "attention",
    )
    found = tuple(f for f in (shuffle, top, removed) if f is not None)
    blind = "whether the weights are on the right words: a model whose attention is one word off would pass"
    question = "does it matter?"
    if shuffle is None:
        return Answer(question, UNKNOWN, look.why_not("permutation"), found, blind)
    moved = f"changes the probabilities by {number(shuffle.value)}"
    answer, open_ = _judged(shuffle.low, shuffle.high, no_below=0.02, yes_above=0.1)
    return Answer(
        question,
        answer,
        f"shuffling the weights {moved} (0: not at all, 1: completely){open_}",
        found,
        blind,
        partly=f"how much the weights matter is unclear {_TOO_WIDE}"
        if open_
        else f"the weights matter only in part (shuffling them {moved})",
    )


def _points(look: _Lookup) -> Answer:
    question = "does it point at what matters?"
    blind = "whether the weights change anything: a model that ignores its attention would pass"
    references = [
        _with_note(finding, measure)
        for measure, words in _REFERENCES.items()
        if (
            finding := look(
                "agreement", "tau", f"rank agreement (Kendall's tau) with {words}", measure
            )
        )
        is not None
    ]
    truth = look("evidence", "hit", "texts whose most attended word is known evidence", "attention")
    others = [
        look("evidence", "mass", "share of attention on known evidence", "attention"),
        look("evidence", "auprc", "known evidence ranked first (AUPRC)", "attention"),
    ]
    if truth is None and not references:
        ran = look.ran("agreement") or look.ran("evidence")
        reason = _NOTHING if ran else "the audits agreement and evidence were not run"
        if ran and look.count < _LEAST:
            reason = look.why_not("agreement" if look.ran("agreement") else "evidence")
        return Answer(question, UNKNOWN, reason, (), blind)
    # The known truth outranks measures that only stand in for it; of those, the less favourable one decides.
    key = truth or min(references, key=lambda finding: _relative(finding, finding.value))
    found = (key, *(f for f in (*others, *references) if f is not None and f is not key))
    if (missing := _no_scale(key, is_truth=truth is not None)) is not None:
        return Answer(question, UNKNOWN, missing, found, blind)
    low, share, high = (_relative(key, value) for value in (key.low, key.value, key.high))
    answer, open_ = _judged(low, high, no_below=0.4, yes_above=0.75)
    if key.compared < _MOST:
        open_ += f"; floor and ceiling are known for only {_percent(key.compared)} of the texts"
    how_far = _how_far(share, key.note, is_truth=truth is not None)
    partly = f"it points at what matters only in part ({_percent(share)} of the way from random to the best possible)"
    if _OPEN in open_:
        partly = f"how well it points at what matters is unclear {_TOO_WIDE}"
    return Answer(question, answer, how_far + open_, found, blind, partly)


def _with_note(finding: Finding, measure: str) -> Finding:
    """Explain an agreement above its ceiling, which is the agreement of the two reference measures with each other."""
    if not finding.value > finding.ceiling:
        return finding
    (other,) = (words for name, words in _REFERENCES.items() if name != measure)
    words = _REFERENCES[measure]
    note = f"above the ceiling: attention agrees with {words} more than {words} and {other} agree with each other"
    return replace(finding, note=note)


def _judged(low: float, high: float, *, no_below: float, yes_above: float) -> tuple[str, str]:
    """The answer, and what to add to it: an interval between the thresholds is "partly" for certain; one that crosses a threshold
    might be settled by more examples."""
    if low > yes_above:
        return YES, ""
    if high < no_below:
        return NO, ""
    return PARTLY, "" if low >= no_below and high <= yes_above else _OPEN


def _no_scale(finding: Finding, *, is_truth: bool) -> str | None:
    """Why a value cannot be placed between floor and ceiling, if it cannot."""
    if math.isnan(finding.floor):
        return "there is no floor to compare with: the measure random was left out"
    if math.isnan(finding.ceiling):
        return "there is no ceiling to compare with: it needs both measures, gradient and leave_one_out"
    if not is_truth and finding.ceiling < _LEAST_AGREEMENT:
        return (
            f"gradients and leave-one-out barely agree with each other (tau {finding.ceiling:.3f}, "
            f"below {_LEAST_AGREEMENT}), so they cannot judge attention"
        )
    return (
        "floor and ceiling are too close to tell a good value from a bad one"
        if finding.ceiling - finding.floor <= 0.02
        else None
    )


def _how_far(share: float, above: str, *, is_truth: bool) -> str:
    if share <= 0:
        return "no better than random"
    if is_truth:
        return f"{_percent(share)} of the way from choosing a random word to always choosing known evidence"
    if share >= 1:
        return (
            above
            or "attention agrees with the reference measures as well as they agree with each other"
        )
    return f"{_percent(share)} of the way from random agreement to that of gradients and leave-one-out with each other"


def _relative(finding: Finding, value: float) -> float:
    """Where a value lies between the finding's floor (0) and ceiling (1)."""
    room = finding.ceiling - finding.floor
    return (value - finding.floor) / room if room > 0 else math.nan


def _only_story(look: _Lookup) -> Answer:
    share = look(
        "furthest",
        "jsd_share",
        "distance to the furthest attention with the same prediction (1: the maximum)",
    )
    upper = look(
        "furthest", "upper_share", "distance beyond which no attention gives the same prediction"
    )
    jsd = look(
        "furthest",
        "jsd",
        "the distance in nats (Jensen–Shannon divergence, JSD; never more than 0.69)",
    )
    question = "is it the only story?"
    blind = "whether the one story is about the right words: a model whose attention is one word off would pass"
    if share is None or upper is None:
        reason = (
            "no text has a second word to attend to"
            if jsd is not None
            else look.why_not("furthest")
        )
        return Answer(question, UNKNOWN, reason, () if jsd is None else (jsd,), blind)
    bounded = upper.value - share.value > 1e-9
    shown = tuple(f for f in (share, upper if bounded else None, jsd) if f is not None)
    distance = f"{_percent(share.value)} of the maximum distance"
    said = f"the furthest attention {'found ' if bounded else ''}with the same prediction is {distance} away"
    # The further another attention may be, the less this one is the only story.
    answer, open_ = _judged(-upper.high, -share.low, no_below=-0.65, yes_above=-0.35)
    partly = f"other attention fits the same prediction almost as well ({distance})"
    if open_:
        partly = f"how different attention with the same prediction can be is unclear {_TOO_WIDE}"
    if bounded and answer == PARTLY:
        open_ = "; the search may have missed a further one"
        partly = "very different attention with the same prediction cannot be ruled out"
        if share.value >= 0.35:
            partly = (
                f"other attention fits the same prediction almost as well (at least {distance})"
            )
    return Answer(question, answer, said + open_, shown, blind, partly)


def _stable(look: _Lookup, about: dict[str, Any]) -> Answer:
    question = "is it stable?"
    share = look(
        "stability", "jsd_share", "distance to another training's attention (1: the maximum)"
    )
    tau = look(
        "stability", "tau", "rank agreement (Kendall's tau) with another training's attention"
    )
    same = look("stability", "same_decision", "same decision in another training")
    if share is None:
        reason = look.why_not("stability") if look.ran("stability") else _how_to_compare(about)
        shown = () if same is None else (same,)
        return Answer(question, UNKNOWN, reason, shown, "what another training would attend to")
    found = tuple(f for f in (share, tau, same) if f is not None)
    said = f"where another training decides the same, its attention is {_percent(share.value)} of the maximum distance away"
    # Attention that is nearly uniform is close to itself in every training, however its weights are ranked.
    same_order = tau is not None and tau.low > _LEAST_AGREEMENT
    answer = NO if share.low > 0.65 else YES if share.high < 0.35 and same_order else PARTLY
    if answer == PARTLY and share.high < 0.35:
        shown_tau = f"(tau {number(tau.value) if tau is not None else '–'})"
        differs = tau is None or tau.value <= _LEAST_AGREEMENT
        said += (
            f", but it ranks the words differently {shown_tau}"
            if differs
            else f"; whether it ranks the words alike is unclear {shown_tau}"
        )
    if same is not None and same.value < _MOST:
        said += f"; only {_percent(same.value)} of the decisions are the same"
    if answer == PARTLY and (share.high > 0.65 or share.low < 0.35 <= share.high):
        said += _OPEN
    blind = "whether the words that all trainings attend to are the right ones, or needed"
    return Answer(question, answer, said, found, blind)


def _how_to_compare(about: dict[str, Any]) -> str:
    """How to give other trainings, in the interface that made these results."""
    how = "pass others as other_models=[…]"
    if "choices" in about.get(
        "run", {}
    ):  # any results read back have "run"; only those of `attnaudit run` have choices
        how = "train two more with --other-seeds 2"
    elif "texts" in about:
        how = "name the folder of another with --other-models"
    return f"one training cannot show it; {how}"


def _accuracy(look: _Lookup, about: dict[str, Any]) -> str:
    """The accuracy on the audited texts next to the majority-class baseline, or why it is unknown."""
    right, stored, majority = _correct(look), about.get("accuracy"), about.get("majority")
    if right is not None:
        stored = {"mean": right.value, "low": right.low, "high": right.high}
    if stored is None:
        reason = "no labels" if majority is None else "the audit uniform_attention was not run"
        return f"Accuracy unknown: {reason}."
    # A single text has no interval.
    ends = "" if stored["low"] is None else f" [{number(stored['low'])}, {number(stored['high'])}]"
    baseline = "" if majority is None else f"; majority-class baseline {number(majority)}"
    return f"Accuracy {number(stored['mean'])}{ends} on {_texts(look.count)}{baseline}."


def _correct(look: _Lookup) -> Finding | None:
    return look("uniform_attention", "correct", "accuracy")


def _cautions(look: _Lookup, about: dict[str, Any]) -> Iterator[str]:
    count = look.count
    if count == 1:
        yield "only one example was audited, so there are no intervals"
    elif 0 < count < _FEW:
        yield f"only {count} examples were audited; intervals are rough with fewer than {_FEW}"
    if cut := about.get("truncated"):
        verbs = ("is", "was") if cut == 1 else ("are", "were")
        yield f"{cut} of {_texts(count)} {verbs[0]} longer than the model can read and {verbs[1]} cut"
    other = look("stability", "jsd_share", "")
    if other is not None and other.high == 0:
        yield "the other training has exactly the same attention; check that it is not the same model"
    right, majority = _correct(look), about.get("majority")
    if right is not None and majority is not None and right.low <= majority:
        better = "barely" if right.value > majority else "not"
        yield (
            f"the model is {better} better than the majority-class baseline (accuracy {number(right.value)} "
            f"[{number(right.low)}, {number(right.high)}], baseline {number(majority)}), so there may be nothing to explain"
        )


def _texts(count: int) -> str:
    return f"{count} text{'' if count == 1 else 's'}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
