"""Every compared explanation with its numbers, its tests and its rank; computed once, then stored.

Ranked by what its top words carry (`top_words/contrast`, between random words and the best words
found). Two explanations are tied unless the interval of their mean difference, text by text,
excludes 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch

from attnaudit.results.audit_names import resolve_audit_name
from attnaudit.results.explanation_tests import PLACE_THRESHOLDS, TESTS
from attnaudit.results.groups import ALL, class_of_group
from attnaudit.results.questions import NO, YES
from attnaudit.results.rows import one_line_per_metric
from attnaudit.results.value_columns import ValueColumns
from attnaudit.statistics import bootstrap

PLACE = ("top_words", "contrast")  # what the ranking is by
# Shown next to the tests: column -> audit, metric.
WITNESSES = {
    "agreement": ("agreement:of=leave_one_out", "tau"),
    "plausibility": ("evidence", "auprc"),
}


def rank_explanations(
    columns: ValueColumns, summaries: pd.DataFrame, about: dict[str, Any]
) -> list[dict[str, Any]]:
    """One dict per explanation, the best first; what is unknown is None.

    Parameters
    ----------
    columns : the values.
    summaries : their summary.
    about : with `explanations`, `seed` and `seconds_per_text`.

    Returns
    -------
    Per explanation: `explanation`, `rank`, `tied_with`; `place` and each of `TESTS` and `WITNESSES`
    with `…_low` and `…_high`; `tests` (answers by key), `passed`, `tested`, `beats_random`,
    `failing_class` (the group of a predicted class in which its place is a no; empty if none is),
    `seconds` per text and `texts`, the number of texts that the place is from.
    """
    lines = _Lines(summaries)
    classes = {
        str(group): _Lines(summaries, str(group))
        for group in summaries["group"].unique()
        if class_of_group(str(group)) is not None
    }
    rows = [
        _row(name, lines, about.get("seconds_per_text", {}))
        | {"failing_class": _failing_class(name, classes)}
        for name in about["explanations"]
        if name not in about.get("measures_not_applicable", {})
    ]
    better = _better(columns, [row["explanation"] for row in rows], about["seed"])
    for row in rows:
        name = row["explanation"]
        known = row["place"] is not None
        row["rank"] = 1 + sum(better.get((other, name), False) for other in _names(rows))
        row["tied_with"] = [
            other
            for other in _names(rows)
            if known
            and other != name
            and better.get((other, name)) is False
            and better.get((name, other)) is False
        ]
        if not known:
            row["rank"] = None
    return sorted(rows, key=_order)


def with_ranking(
    columns: ValueColumns, summaries: pd.DataFrame, about: dict[str, Any]
) -> dict[str, Any]:
    """`about` with the ranking as `explanation_ranking`, if explanations were compared."""
    if "explanations" not in about:
        return about
    return {**about, "explanation_ranking": rank_explanations(columns, summaries, about)}


def _names(rows: Sequence[dict[str, Any]]) -> list[str]:
    return [row["explanation"] for row in rows]


def _order(row: dict[str, Any]) -> tuple[float, float, float]:
    """Best rank first, then most tests passed, then the highest place."""
    rank = math.inf if row["rank"] is None else row["rank"]
    place = -math.inf if row["place"] is None else row["place"]
    return rank, -row["passed"], -place


class _Lines:
    """The summary over the examples of a group, found by audit, metric and measure."""

    def __init__(self, summaries: pd.DataFrame, group: str = ALL) -> None:
        lines = one_line_per_metric(summaries[summaries["group"] == group])
        self._lines = {
            (str(line.audit), str(line.metric), str(line.measure)): line
            for line in lines.itertuples()
        }
        self._audits = list(dict.fromkeys(key[0] for key in self._lines))

    def __call__(self, audit: str, metric: str, measure: str) -> Any:
        """The line, or None."""
        name = resolve_audit_name(audit, self._audits)
        return None if name is None else self._lines.get((name, metric, measure))


def _row(name: str, lines: _Lines, seconds: dict[str, float]) -> dict[str, Any]:
    line = lines(*PLACE, name)
    row: dict[str, Any] = {"explanation": name, "rank": None, "tied_with": []}
    row |= _numbers("place", line, relative=True)
    row["texts"] = 0 if line is None else round(line.count * (1 - line.nan_share))
    tests = {}
    for test in TESTS:
        of_test = lines(test.audit, test.metric, name)
        found = _numbers(test.key, of_test, relative=test.thresholds.relative)
        row |= found
        tests[test.key] = test.judge(found[f"{test.key}_low"], found[f"{test.key}_high"])
    for key, (audit, metric) in WITNESSES.items():
        row |= _numbers(key, lines(audit, metric, name), relative=False)
    row["tests"] = tests
    row["passed"] = sum(answer == YES for answer in tests.values())
    row["tested"] = sum(row[test.key] is not None for test in TESTS)
    low = row["place_low"]
    row["beats_random"] = low is not None and low > 0
    known = "read" in seconds and name in seconds
    row["seconds"] = seconds["read"] + seconds[name] if known else None
    return row


def _failing_class(name: str, classes: Mapping[str, _Lines]) -> str:
    """The group of the class with the lowest place, if its whole interval is a no; or ""."""
    failing: list[tuple[float, str]] = []
    for group, lines in classes.items():
        line = lines(*PLACE, name)
        if line is None or math.isnan(line.relative_low) or math.isnan(line.relative_high):
            continue
        if PLACE_THRESHOLDS.judge(line.relative_low, line.relative_high)[0] == NO:
            failing.append((float(line.relative), group))
    return min(failing)[1] if failing else ""


def _numbers(key: str, line: Any, *, relative: bool) -> dict[str, float | None]:
    names = ("relative", "relative_low", "relative_high") if relative else ("mean", "low", "high")
    values = [math.nan if line is None else float(getattr(line, name)) for name in names]
    return {
        f"{key}{ending}": value if math.isfinite(value) else None
        for ending, value in zip(("", "_low", "_high"), values, strict=True)
    }


def _better(columns: ValueColumns, names: Sequence[str], seed: int) -> dict[tuple[str, str], bool]:
    """(first, second) -> whether the first is better for certain, by a paired bootstrap.

    Only pairs that have texts in common are there.
    """
    audits = list(dict.fromkeys(key[0] for key in columns.keys))
    audit = resolve_audit_name(PLACE[0], audits)
    keys = {name: (audit or "", name, PLACE[1], 0) for name in names}
    known = {name: key for name, key in keys.items() if key in columns.keys}
    values = {name: np.asarray(columns.column(key), dtype=float) for name, key in known.items()}
    pairs = [(a, b) for a in values for b in values if a != b]
    pairs = [(a, b) for a, b in pairs if np.isfinite(values[a] - values[b]).any()]
    if not pairs:
        return {}
    differences = torch.from_numpy(np.stack([values[a] - values[b] for a, b in pairs], 1))
    low = bootstrap(differences, seed=seed).low
    return {pair: bool(end > 0) for pair, end in zip(pairs, low.tolist(), strict=True)}
