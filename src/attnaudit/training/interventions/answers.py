"""The answer of each intervention in one or two sentences, from its summary alone.

A sentence says yes or no only if the whole interval does; otherwise it says "Cannot tell".
Intervals are over texts: every model was trained once, so a difference between two models may also
be one between two trainings.
"""

from __future__ import annotations

import math

import pandas as pd

from attnaudit.results.number_formats import number, percent
from attnaudit.training.interventions.answer_numbers import (
    accuracy_of,
    held_and_other,
    in_words,
    is_known,
    lost_in_words,
    with_ends,
)

MATTERS = 0.02  # of accuracy, as on the card
NEAR, FAR = 0.35, 0.65  # of the maximum distance, as on the card
MAXIMUM = math.log(2)  # of JSD
_WIDE = "the interval is too wide"


def without_attention(summary: pd.DataFrame, kind: str) -> str:
    """Is attention needed? kind: "uniform" or "random", the attention it was replaced by."""
    line = accuracy_of(summary)
    if line is None:
        return "Cannot tell whether attention is needed: the accuracy is not known."
    text = f"Trained with {kind} attention, the model {lost_in_words(*line)}"
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
    if not is_known(line, "jsd", "tvd"):
        return (
            "Cannot tell whether the attention is stable: no distance between the models is known."
        )
    text = (
        f"Models that differ only by seed have attention {percent(line['jsd'] / MAXIMUM)} of the "
        f"maximum distance apart ({in_words(line, 'jsd', 'JSD')}; "
        f"{len(pairs)} pair{'' if len(pairs) == 1 else 's'} of models)"
    )
    low, high = line["jsd_low"] / MAXIMUM, line["jsd_high"] / MAXIMUM
    if low > FAR:
        answer = f"{text}: the attention depends on the seed."
    elif high < NEAR:
        answer = f"{text}: the attention is similar for these seeds."
    elif low >= NEAR and high <= FAR:
        answer = f"{text}: the attention depends on the seed in part."
    else:
        answer = f"{text}. Cannot tell whether the attention depends on the seed: {_WIDE}."
    return f"{answer} Their predictions differ by {in_words(line, 'tvd', 'TVD')}."


def adversarial(summary: pd.DataFrame) -> str:
    """Can the attention be moved while the predictions stay?"""
    known = summary[[is_known(line, "jsd", "tvd") for _, line in summary.iterrows()]]
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
            f"{in_words(twin, 'jsd', 'JSD')} away, further than another seed "
            f"({number(jsd, 2)} at most), and predicts as alike as another seed does "
            f"({in_words(twin, 'tvd', 'TVD')}, other seeds {number(tvd, 2)} at most). "
            "The attention is not the only story."
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
        source: accuracy_of(summary[summary["attention"] == source], "above uniform")
        for source in ("the base's", "the twin's")
    }
    base, twin = lines["the base's"], lines["the twin's"]
    if base is None:
        return "Cannot tell whether the base's attention helps: the accuracy is not known."
    change = f"{lost_in_words(-base[0], -base[2], -base[1])} compared with uniform attention"
    text = f"With the base's attention, a context-free model {change}"
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
    held, other = held_and_other(summary)
    if not (is_known(held, "jsd") and is_known(other, "jsd")):
        return (
            "Cannot tell whether the same attention comes back: "
            "no distance between the models is known."
        )
    text = (
        "Trained again on the same representation, the attention is "
        f"{in_words(held, 'jsd', 'JSD')} from the first; another seed is "
        f"{in_words(other, 'jsd', 'JSD')} away"
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
    held, other = held_and_other(summary)
    if not is_known(held, "accuracy_lost"):
        return "Cannot tell whether a new encoder does as well: the accuracy is not known."
    change = lost_in_words(*with_ends(held, "accuracy_lost"))
    text = f"Under the first model's attention, a new encoder {change}"
    if is_known(other, "accuracy_lost"):
        text += f" (another seed {lost_in_words(*with_ends(other, 'accuracy_lost'))})"
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
    if not (is_known(honest, mass) and is_known(hiding, mass)):
        return "Cannot tell whether the words can be hidden: no test text has words to hide."
    before, after = in_words(honest, mass), in_words(hiding, mass)
    text = f"Attention on the hidden words goes from {before} to {after}"
    if hiding[f"{mass}_low"] >= honest[f"{mass}_high"]:
        return f"{text}. No, the model did not learn to hide them."
    if not hiding[f"{mass}_high"] < honest[f"{mass}_low"]:
        return f"{text}. Cannot tell whether the words can be hidden: the intervals overlap."
    if not is_known(hiding, "accuracy_lost"):
        return f"{text}. Cannot tell at what cost: the accuracy is not known."
    text += f", and the model {lost_in_words(*with_ends(hiding, 'accuracy_lost'))}"
    if hiding["accuracy_lost_high"] < MATTERS:
        return f"{text}. Yes, it can hide words it decides by at no cost."
    if hiding["accuracy_lost_low"] > MATTERS:
        return f"{text}. Only at a cost: hiding the words makes the model worse."
    return f"{text}. It can hide the words; cannot tell whether at no cost: {_WIDE}."


def sparsity(summary: pd.DataFrame) -> str:
    """Does the sparsest attention explain better than softmax?"""
    tau = next(
        name
        for name in summary.columns
        if name.startswith("tau_") and name != "tau_random" and not name.endswith(("_low", "_high"))
    )
    shown = (tau, "furthest_jsd")
    plain = summary[summary["projection"] == "softmax"].iloc[0]
    others = summary[(summary["projection"] != "softmax") & summary["max_attention"].notna()]
    if others.empty or not is_known(plain, *shown):
        return "Cannot tell whether sparser attention explains better: there is nothing to compare."
    sparse = others.loc[others["max_attention"].idxmax()]
    if not is_known(sparse, *shown):
        return (
            "Cannot tell whether sparser attention explains better: "
            "the sparsest model lacks the numbers."
        )
    text = (
        f"From softmax to the sparsest attention ({sparse['projection']} {sparse['value']:g}; "
        f"one training each), {tau.replace('tau_', 'tau with ')} goes from {in_words(plain, tau)} "
        f"to {in_words(sparse, tau)}, and the furthest attention with the same prediction "
        f"from {in_words(plain, 'furthest_jsd', 'JSD')} to {in_words(sparse, 'furthest_jsd')}"
    )
    better = sparse[f"{tau}_low"] > plain[f"{tau}_high"] or (
        sparse["furthest_jsd_high"] < plain["furthest_jsd_low"]
    )
    worse = sparse[f"{tau}_high"] < plain[f"{tau}_low"] or (
        sparse["furthest_jsd_low"] > plain["furthest_jsd_high"]
    )
    if better and worse:
        return f"{text}. One speaks for sparser attention and one against it."
    if better:
        return f"{text}. Yes, the sparser attention explains better here."
    if worse:
        return f"{text}. No, the sparser attention does not explain better."
    return f"{text}. Cannot tell whether sparser attention explains better: the intervals overlap."
