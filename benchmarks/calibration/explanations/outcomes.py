"""Count how often tests of explanations and recommendations are wrong, with Wilson intervals."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from benchmarks.calibration.explanations.answers import (
    BY_CONSTRUCTION,
    NOTHING,
    PASSES,
    SHOWN,
    USUAL,
)
from benchmarks.calibration.explanations.planted import PLANTED
from benchmarks.calibration.outcomes import tabulate, wilson
from benchmarks.calibration.truth import NO, NOT_YES, YES

from attnaudit.measures import EXPLANATIONS
from attnaudit.results.explanation_tests import TEST_RULES, TESTS

HALVES = ("fit", "held out")
_ENDS = {"rate": "", "low": "_low", "high": "_high"}
_COLUMNS = ("false_yes", "false_no", "right_yes")


def explanation_errors(answers: pd.DataFrame) -> pd.DataFrame:
    """Count outcomes per explanation, question, number of texts and half.

    Parameters
    ----------
    answers : from `answers_of`.

    Returns
    -------
    DataFrame
        `false_pass`: share of yes where the explanation is unfaithful; `false_fail`: share of no
        where it is faithful; `right_pass`: share of yes where it is faithful; with intervals. All
        explanations together, but for random scores, are "the usual ones" or "planted ones".
    """
    pooled = answers[answers["explanation"] != "random"]
    pools = pooled["explanation"].isin(list(PLANTED)).map({True: BY_CONSTRUCTION, False: USUAL})
    lines = []
    for name, part in pd.concat([answers, pooled.assign(explanation=pools)]).groupby(
        "explanation", sort=False
    ):
        counted = tabulate(part)
        lines.append(counted[counted["half"] != "all"].assign(explanation=name))
    table = pd.concat(lines, ignore_index=True)
    order = [*EXPLANATIONS, *PLANTED, USUAL, BY_CONSTRUCTION]
    place = {name: index for index, name in enumerate(order)}
    table = table.sort_values(
        "explanation", key=lambda names: names.map(lambda name: place.get(name, -1)), kind="stable"
    )
    kept = ["explanation", "question", "texts", "half", "truth_yes", "truth_no", "truth_open"]
    kept += [f"{name}{end}" for name in _COLUMNS for end in ("_count", "", "_low", "_high")]
    passing = {"yes": "pass", "no": "fail"}
    renamed = {
        name: name.replace(answer, word)
        for name in kept
        for answer, word in passing.items()
        if name.startswith(("false", "right")) and f"_{answer}" in name
    }
    return table[kept].rename(columns=renamed)


def recommendation_errors(chosen: pd.DataFrame) -> pd.DataFrame:
    """Count recommendations per number of texts and half.

    Parameters
    ----------
    chosen : from `answers_of`.

    Returns
    -------
    DataFrame
        `wrong`: share of unfaithful ones among the recommended explanations whose truth is not
        open; `missed`: share of the models with a faithful explanation for which nothing was
        recommended; `all_tests_wrong`: as `wrong`, of those that pass all tests. These are of the
        usual explanations. `fooled`: share of the models for which a planted explanation was
        recommended where only these were compared and none is faithful or open.
    """
    lines = []
    for (texts, half), both in chosen.groupby(["texts", "half"]):
        part = both[both["compared"] == USUAL]
        hopeless = both[(both["compared"] == BY_CONSTRUCTION) & both["best"].isin([NO, NOT_YES])]
        named = part[part["explanation"] != NOTHING]
        known = named[named["truth"].isin([YES, NO, NOT_YES])]
        sure = known[known["passed"] == len(TESTS)]
        possible = part[part["best"] == YES]
        counts = {
            "wrong": (int((known["truth"] != YES).sum()), len(known)),
            "missed": (int((possible["explanation"] == NOTHING).sum()), len(possible)),
            "fooled": (int((hopeless["explanation"] != NOTHING).sum()), len(hopeless)),
            "all_tests_wrong": (int((sure["truth"] != YES).sum()), len(sure)),
        }
        line: dict[str, Any] = {"texts": texts, "half": half, "models": len(part)}
        line["recommended"] = len(named)
        for name, (count, cases) in counts.items():
            low, high = wilson(count, cases)
            line |= {
                f"{name}_count": count,
                f"{name}_cases": cases,
                name: count / cases if cases else math.nan,
                f"{name}_low": low,
                f"{name}_high": high,
            }
        lines.append(line)
    return pd.DataFrame(lines)


def stated_rates(recommendations: pd.DataFrame, errors: pd.DataFrame) -> dict[str, Any]:
    """Return what the card and the page say, of the held-out half.

    Of the numbers of texts, the one with the highest rate counts. `drawn` is how often scores drawn
    at random would be offered if nothing else was compared.
    """
    held_out = recommendations[recommendations["half"] == "held out"]
    rates: dict[str, Any] = {"rules": TEST_RULES}
    for name in ("wrong", "fooled", "missed"):
        worst = held_out.loc[held_out[name].idxmax()]
        rates[name] = _rate(worst, name, f"{name}_cases")
    alone = errors[
        (errors["half"] == "held out")
        & (errors["explanation"] == "drawn")
        & (errors["question"] == SHOWN)
    ]
    rates["drawn"] = _rate(alone.loc[alone["false_pass"].idxmax()], "false_pass", "truth_no")
    return rates


def _rate(line: Any, name: str, cases: str) -> dict[str, Any]:
    ends = {end: round(float(line[f"{name}{suffix}"]), 4) for end, suffix in _ENDS.items()}
    return {"cases": int(line[cases]), "texts": int(line["texts"]), **ends}


QUESTIONS = (*(test.key for test in TESTS), PASSES, SHOWN)
