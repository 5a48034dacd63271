"""Write the error rates of explanations and recommendations into docs/explanations.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from benchmarks.calibration.document import replace_between
from benchmarks.calibration.explanations.answers import (
    BY_CONSTRUCTION,
    NOTHING,
    PASSES,
    SHOWN,
    USUAL,
)
from benchmarks.calibration.truth import NO, NOT_YES, OPEN, YES

from attnaudit.results.explanation_tests import TESTS
from attnaudit.results.recommendation import spelled

MARKS = ("<!-- explanation rates: begin -->", "<!-- explanation rates: end -->")
_TRUTHS = {"faithful": (YES,), "open": (OPEN,), "not faithful": (NO, NOT_YES)}
_BEST = {"a faithful one": (YES,), "an open one at best": (OPEN,), "none": (NO, NOT_YES)}
TEXTS = 200  # of the table by explanation


def write_tables(
    chosen: pd.DataFrame, recommendations: pd.DataFrame, errors: pd.DataFrame, path: Path
) -> None:
    """Replace what stands between the marks of a document.

    Parameters
    ----------
    chosen : from `answers_of`.
    recommendations : from `recommendation_errors`.
    errors : from `explanation_errors`.
    path : of the document.
    """
    parts = [_confusion(chosen), _rates(recommendations), _explanations(errors), _tests(errors)]
    replace_between(path, MARKS, "\n\n".join(parts))


def _confusion(chosen: pd.DataFrame) -> str:
    """What was recommended, against what there was."""
    held_out = chosen[(chosen["half"] == "held out") & (chosen["compared"] == USUAL)]
    lines = [
        "| texts | among those compared is | recommended: faithful | open | not faithful "
        "| nothing |",
        "|---|---|---|---|---|---|",
    ]
    for texts in sorted(held_out["texts"].unique()):
        for words, best in _BEST.items():
            part = held_out[(held_out["texts"] == texts) & held_out["best"].isin(best)]
            counts = [int(part["truth"].isin(truths).sum()) for truths in _TRUTHS.values()]
            counts.append(int((part["explanation"] == NOTHING).sum()))
            cells = " | ".join(str(count) for count in counts)
            lines.append(f"| {texts:,} | {words} ({len(part)}) | {cells} |")
    return "\n".join(lines)


def _rates(recommendations: pd.DataFrame) -> str:
    lines = [
        "| texts | recommended and not faithful | of those that pass all tests "
        "| only unfaithful ones compared, one recommended "
        "| nothing recommended, though one is faithful |",
        "|---|---|---|---|---|",
    ]
    held_out = recommendations[recommendations["half"] == "held out"]
    for line in held_out.sort_values("texts").to_dict("records"):
        cells = [
            _cell(line, name, f"{name}_cases")
            for name in ("wrong", "all_tests_wrong", "fooled", "missed")
        ]
        lines.append(f"| {line['texts']:,} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _explanations(errors: pd.DataFrame) -> str:
    """Per explanation, at one number of texts."""
    lines = [
        f"| explanation ({TEXTS} texts) | models: faithful, open, not "
        "| passes all tests, not faithful | fails a test, faithful "
        "| would be offered alone, not faithful | would not be offered, faithful |",
        "|---|---|---|---|---|---|",
    ]
    held_out = errors[(errors["half"] == "held out") & (errors["texts"] == TEXTS)]
    for name, part in held_out.groupby("explanation", sort=False):
        of = {line["question"]: line for line in part.to_dict("records")}
        passes = of[PASSES]
        counts = ", ".join(str(passes[f"truth_{truth}"]) for truth in ("yes", "open", "no"))
        cells = [
            _cell(of[question], rate, cases)
            for question in (PASSES, SHOWN)
            for rate, cases in (("false_pass", "truth_no"), ("false_fail", "truth_yes"))
        ]
        lines.append(f"| {_named(str(name))} | {counts} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _tests(errors: pd.DataFrame) -> str:
    """Per test, all explanations together."""
    lines = [
        f"| test ({TEXTS} texts) | passed by usual ones that are not faithful | failed by faithful "
        "ones | passed by planted ones that are not faithful |",
        "|---|---|---|---|",
    ]
    held_out = errors[(errors["half"] == "held out") & (errors["texts"] == TEXTS)]
    of = {(line["explanation"], line["question"]): line for line in held_out.to_dict("records")}
    for test in TESTS:
        usual, planted = of[USUAL, test.key], of[BY_CONSTRUCTION, test.key]
        cells = [
            _cell(usual, "false_pass", "truth_no"),
            _cell(usual, "false_fail", "truth_yes"),
            _cell(planted, "false_pass", "truth_no"),
        ]
        lines.append(f"| {test.key} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _named(name: str) -> str:
    return f"**{name}**" if name in (USUAL, BY_CONSTRUCTION) else spelled(name)


def _cell(line: dict[Any, Any], name: str, cases: str) -> str:
    if not line[cases]:
        return "–"
    return (
        f"{line[f'{name}_count']} of {line[cases]}: {100 * line[name]:.1f} % "
        f"[{100 * line[f'{name}_low']:.0f}, {100 * line[f'{name}_high']:.0f}]"
    )
