"""Count how often answers are wrong, with Wilson intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd
from benchmarks.calibration.truth import NO, NOT_YES, OPEN, YES

PARTLY, UNKNOWN = "partly", "cannot tell"
RATES = ("false_yes", "false_no", "cannot_tell", "partly")


def wilson(count: int, total: int, z: float = 1.959964) -> tuple[float, float]:
    """Return the 95 % interval of a rate (Wilson 1927); NaN without observations.

    Models of one family resemble each other, so the true uncertainty is somewhat larger.

    Examples
    --------
    >>> [round(end, 3) for end in wilson(0, 20)]
    [0.0, 0.161]
    """
    if not total:
        return math.nan, math.nan
    rate = count / total
    centre = (rate + z * z / (2 * total)) / (1 + z * z / total)
    spread = (
        z / (1 + z * z / total) * math.sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
    )
    return max(0.0, centre - spread), min(1.0, centre + spread)


def count_outcomes(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Count outcomes of one question.

    Parameters
    ----------
    pairs : (answer, truth) per model. Answers are "yes", "partly", "no" or "cannot tell"; truths
        are "yes", "no", "not yes" or "open".

    Returns
    -------
    dict
        `false_yes` is the share of yes where the truth is "no" or "not yes", `false_no` the share
        of no where it is "yes", `wrong_of_yes` the share of wrong ones among yes (open truths
        aside); `cannot_tell` and `partly` are shares of all models whose truth is not open. Each
        rate with its interval.

    Examples
    --------
    >>> counted = count_outcomes([("yes", "yes"), ("yes", "no"), ("no", "no"), ("no", "open")])
    >>> counted["false_yes"], counted["wrong_of_yes"], counted["false_no"]
    (0.5, 0.5, 0.0)
    """
    answers = list(pairs)
    bad = [answer for answer, truth in answers if truth in (NO, NOT_YES)]
    good = [answer for answer, truth in answers if truth == YES]
    known = bad + good
    counts = {
        "false_yes": (bad.count(YES), len(bad)),
        "false_no": (good.count(NO), len(good)),
        "right_yes": (good.count(YES), len(good)),
        "right_no": (bad.count(NO), len(bad)),
        "wrong_of_yes": (bad.count(YES), known.count(YES)),
        "cannot_tell": (known.count(UNKNOWN), len(known)),
        "partly": (known.count(PARTLY), len(known)),
    }
    line: dict[str, Any] = {
        "truth_yes": len(good),
        "truth_no": len(bad),
        "truth_open": sum(truth == OPEN for _, truth in answers),
    }
    for name, (count, total) in counts.items():
        low, high = wilson(count, total)
        line |= {
            f"{name}_count": count,
            name: count / total if total else math.nan,
            f"{name}_low": low,
            f"{name}_high": high,
        }
    return line


def tabulate(answers: pd.DataFrame) -> pd.DataFrame:
    """Count outcomes per question, number of texts and half ("fit", "held out", "all").

    Parameters
    ----------
    answers : one line per model, question and number of texts, with the columns model, half,
        texts, question, answer and truth. Lines with an empty truth are not judged.
    """
    judged = answers[answers["truth"] != ""]
    lines = []
    for (question, texts), part in judged.groupby(["question", "texts"], sort=False):
        for half in ("fit", "held out", "all"):
            chosen = part if half == "all" else part[part["half"] == half]
            counted = count_outcomes(zip(chosen["answer"], chosen["truth"], strict=True))
            lines.append({"question": question, "texts": texts, "half": half, **counted})
    return pd.DataFrame(lines)
