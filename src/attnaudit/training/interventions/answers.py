"""The answer of each intervention in one or two sentences, from its summary alone.

A sentence says yes or no only if the whole interval does; otherwise it says "Cannot tell".
Intervals are over texts: every model was trained once, so a difference between two models may also
be one between two trainings.
"""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

MATTERS = 0.02  # of accuracy, as on the card
NEAR, FAR = 0.35, 0.65  # of the maximum distance, as on the card
MAXIMUM = math.log(2)  # of JSD
_WIDE = "the interval is too wide"


def without_attention(summary: pd.DataFrame, kind: str) -> str:
    """Is attention needed? kind: "uniform" or "random", the attention it was replaced by."""
    line = _accuracy(summary)
    if line is None:
        return "Cannot tell whether attention is needed: the accuracy is not known."
    text = f"Trained with {kind} attention, the model {_lost(*line)}"
    what = "attention" if kind == "uniform" else "attention to chosen words"
    if line[1] > MATTERS:
        return f"{text}: {what} is needed for this task."
    if line[2] < MATTERS:
        return f"{text}: {what} is not needed for this task."
    return f"{text}. Cannot tell whether {what} is needed: {_WIDE}."


def seeds(summary: pd.DataFrame) -> str:
    """How far apart are models that differ only by seed?"""
    pairs = summary[summary["pair"] != "all"]
    line = summary[summary["pair"] == "all"].iloc[0]
    if not _known(line, "jsd", "tvd"):
        return (
            "Cannot tell whether the attention is stable: no distance between the models is known."
        )
    text = (
        f"Models that differ only by seed have attention {_percent(line['jsd'] / MAXIMUM)} of the "
        f"maximum distance apart ({_of(line, 'jsd', 'JSD')}; "
        f"{len(pairs)} pair{'' if len(pairs) == 1 else 's'} of models)"
    )
    low, high = line["jsd_low"] / MAXIMUM, line["jsd_high"] / MAXIMUM
    if low > FAR:
        found = f"{text}: the attention depends on the seed."
    elif high < NEAR:
        found = f"{text}: the attention is similar for these seeds."
    elif low >= NEAR and high <= FAR:
        found = f"{text}: the attention depends on the seed in part."
    else:
        found = f"{text}. Cannot tell whether the attention depends on the seed: {_WIDE}."
    return f"{found} Their predictions differ by {_of(line, 'tvd', 'TVD')}."


def adversarial(summary: pd.DataFrame) -> str:
    """Can the attention be moved while the predictions stay?"""
    known = summary[[_known(line, "jsd", "tvd") for _, line in summary.iterrows()]]
    others, twins = known[known["kind"] == "seed"], known[known["kind"] == "twin"]
    if others.empty or twins.empty:
        missing = "other seed" if others.empty else "twin"
        return (
            "Cannot tell whether the attention can be moved: "
            f"there is no {missing} to compare with."
        )
    jsd, tvd = others["jsd_high"].max(), others["tvd_high"].max()
    keeping = twins[twins["tvd"] <= tvd]
    moved = keeping[keeping["jsd_low"] > jsd]
    if len(moved):
        twin = moved.loc[moved["jsd"].idxmax()]
        return (
            f"Yes, it can be moved: the twin with lam={twin['lam']:g} attends "
            f"{_of(twin, 'jsd', 'JSD')} away, further than another seed ({_number(jsd)} at most), "
            f"and predicts as alike as another seed does ({_of(twin, 'tvd', 'TVD')}, "
            f"other seeds {_number(tvd)} at most). The attention is not the only story."
        )
    if ((twins["tvd_low"] > tvd) | (twins["jsd_high"] <= jsd)).all():
        return (
            "No twin attends further away than another seed does without changing the predictions "
            "more: no other story was found. Other values of lam may find one."
        )
    return (
        "Cannot tell whether the attention can be moved: "
        "the intervals of twins and other seeds overlap."
    )


def guided_mlp(summary: pd.DataFrame) -> str:
    """Does the attention of the base help a context-free model?"""
    lines = {
        source: _accuracy(summary[summary["attention"] == source], "above uniform")
        for source in ("the base's", "the twin's")
    }
    base, twin = lines["the base's"], lines["the twin's"]
    if base is None:
        return "Cannot tell whether the base's attention helps: the accuracy is not known."
    text = (
        f"With the base's attention, a context-free model {_lost(-base[0], -base[2], -base[1])} "
        "compared with uniform attention"
    )
    if base[1] > 0:
        text += ": the attention tells another model something about the words."
    elif base[2] < MATTERS:
        text += ": the attention tells another model nothing useful."
    else:
        return f"{text}. Cannot tell whether it helps: {_WIDE}."
    if twin is None:
        return text
    verb = "is not clearly better or worse than"
    if base[1] > twin[2]:
        verb = "helps more than"
    elif base[2] < twin[1]:
        verb = "helps less than"
    return f"{text} It {verb} the adversarial twin's attention."


def fix_representation(summary: pd.DataFrame) -> str:
    """Does the same attention come back on the same representation?"""
    held, other = _held(summary)
    if not (_known(held, "jsd") and _known(other, "jsd")):
        return (
            "Cannot tell whether the same attention comes back: "
            "no distance between the models is known."
        )
    text = (
        "Trained again on the same representation, the attention is "
        f"{_of(held, 'jsd', 'JSD')} from the first; another seed is {_of(other, 'jsd', 'JSD')} away"
    )
    if held["jsd_high"] < other["jsd_low"]:
        return (
            f"{text}. Yes, it comes back closer than with another seed: "
            "the representation decides part of it."
        )
    if held["jsd_low"] > other["jsd_high"]:
        return f"{text}. No, it does not come back: the representation does not decide it."
    return (
        f"{text}. Cannot tell whether it comes back closer than with another seed: "
        "the intervals overlap."
    )


def fix_attention(summary: pd.DataFrame) -> str:
    """Does a new encoder do as well under the same attention?"""
    held, other = _held(summary)
    if not _known(held, "accuracy_lost"):
        return "Cannot tell whether a new encoder does as well: the accuracy is not known."
    text = (
        f"Under the first model's attention, a new encoder {_lost(*_three(held, 'accuracy_lost'))}"
    )
    if _known(other, "accuracy_lost"):
        text += f" (another seed {_lost(*_three(other, 'accuracy_lost'))})"
    if held["accuracy_lost_high"] < MATTERS:
        return f"{text}. Yes, it does as well: the attention can be used by another encoder."
    if held["accuracy_lost_low"] > MATTERS:
        return f"{text}. No, it does worse: the attention fits its own encoder only."
    return f"{text}. Cannot tell whether it does as well: {_WIDE}."


def deceptive(summary: pd.DataFrame) -> str:
    """Can the model hide the words it decides by, at no cost?"""
    mass = "attention on hidden words"
    lines = {str(line["model"]): line for _, line in summary.iterrows()}
    honest, hiding = lines["ordinary"], lines["deceptive"]
    if not (_known(honest, mass) and _known(hiding, mass)):
        return "Cannot tell whether the words can be hidden: no test text has words to hide."
    text = f"Attention on the hidden words goes from {_of(honest, mass)} to {_of(hiding, mass)}"
    if hiding[f"{mass}_low"] >= honest[f"{mass}_high"]:
        return f"{text}. No, the model did not learn to hide them."
    if not hiding[f"{mass}_high"] < honest[f"{mass}_low"]:
        return f"{text}. Cannot tell whether the words can be hidden: the intervals overlap."
    if not _known(hiding, "accuracy_lost"):
        return f"{text}. Cannot tell at what cost: the accuracy is not known."
    text += f", and the model {_lost(*_three(hiding, 'accuracy_lost'))}"
    if hiding["accuracy_lost_high"] < MATTERS:
        return f"{text}. Yes, it can hide words it decides by at no cost."
    if hiding["accuracy_lost_low"] > MATTERS:
        return f"{text}. Only at a cost: hiding the words makes the model worse."
    return f"{text}. It can hide the words; cannot tell whether at no cost: {_WIDE}."


def sparsity(summary: pd.DataFrame) -> str:
    """Does the sparsest attention explain better than softmax?"""
    shown = ("tau_gradient", "furthest_jsd")
    plain = summary[summary["projection"] == "softmax"].iloc[0]
    others = summary[(summary["projection"] != "softmax") & summary["max_attention"].notna()]
    if others.empty or not _known(plain, *shown):
        return "Cannot tell whether sparser attention explains better: there is nothing to compare."
    sparse = others.loc[others["max_attention"].idxmax()]
    if not _known(sparse, *shown):
        return (
            "Cannot tell whether sparser attention explains better: "
            "the sparsest model lacks the numbers."
        )
    text = (
        f"From softmax to the sparsest attention ({sparse['projection']} {sparse['value']:g}; "
        f"one training each), tau with gradients goes from {_of(plain, 'tau_gradient')} to "
        f"{_of(sparse, 'tau_gradient')}, and the furthest attention with the same prediction from "
        f"{_of(plain, 'furthest_jsd', 'JSD')} to {_of(sparse, 'furthest_jsd')}"
    )
    better = sparse["tau_gradient_low"] > plain["tau_gradient_high"] or (
        sparse["furthest_jsd_high"] < plain["furthest_jsd_low"]
    )
    worse = sparse["tau_gradient_high"] < plain["tau_gradient_low"] or (
        sparse["furthest_jsd_low"] > plain["furthest_jsd_high"]
    )
    if better and worse:
        return f"{text}. One speaks for sparser attention and one against it."
    if better:
        return f"{text}. Yes, the sparser attention explains better here."
    if worse:
        return f"{text}. No, the sparser attention does not explain better."
    return f"{text}. Cannot tell whether sparser attention explains better: the intervals overlap."


def _held(summary: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """The line of the model with a frozen part, and that of the other seed."""
    lines = {str(line["model"]): line for _, line in summary.iterrows()}
    return lines["held"], lines["other seed"]


def _accuracy(
    summary: pd.DataFrame, column: str = "difference"
) -> tuple[float, float, float] | None:
    """(difference, low, high) of the line of accuracy, if all are known."""
    line = summary[summary["metric"] == "accuracy"].iloc[0]
    found = tuple(float(line[name]) for name in (column, "low", "high"))
    return None if any(math.isnan(value) for value in found) else (found[0], found[1], found[2])


def _three(line: pd.Series, name: str) -> tuple[float, float, float]:
    return float(line[name]), float(line[f"{name}_low"]), float(line[f"{name}_high"])


def _known(line: pd.Series, *names: str) -> bool:
    return not any(math.isnan(value) for name in names for value in _three(line, name))


def _of(line: pd.Series, name: str, unit: str = "") -> str:
    """ "JSD 0.12 [0.10, 0.14]"."""
    value, low, high = _three(line, name)
    return f"{f'{unit} ' if unit else ''}{_number(value)} [{_number(low)}, {_number(high)}]"


def _lost(lost: float, low: float, high: float) -> str:
    if round(100 * lost, 1) >= 0:
        return f"loses {_points(lost)} points of accuracy [{_points(low)}, {_points(high)}]"
    return f"gains {_points(-lost)} points of accuracy [{_points(-high)}, {_points(-low)}]"


def _points(share: float) -> str:
    return (
        f"{100 * share:.1f}".removeprefix("-")
        if round(100 * share, 1) == 0
        else f"{100 * share:.1f}"
    )


def _number(value: Any) -> str:
    return (
        f"{float(value):.2f}".removeprefix("-")
        if round(float(value), 2) == 0
        else f"{float(value):.2f}"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
