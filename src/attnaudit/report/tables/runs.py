"""The numbers of the card, one row per run: what a paper's own table is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from attnaudit.core.errors import NotApplicable
from attnaudit.report.run_sources import Run
from attnaudit.report.tables.table import PaperTable, with_interval

_ACCURACY = "test accuracy"
# How csv columns end, and which part of a number they hold; the mean itself has the plain name.
_PARTS = {"": "value", " low": "low", " high": "high", " floor": "floor", " ceiling": "ceiling", " undefined": "nan_share"}  # fmt: skip


@dataclass(frozen=True)
class _Number:
    question: str
    name: str  # audit/metric@measure
    meaning: str
    decides: bool
    value: float
    low: float | None
    high: float | None
    floor: float
    ceiling: float
    nan_share: float


def runs(sources: Sequence[Run]) -> PaperTable:
    """csv: accuracy and every number of the card, with interval, floor, ceiling and the share of examples without a value. Printed: the
    accuracy and, under each question, the number that decides it."""
    found = [{number.name: number for number in _numbers(run)} for run in sources]
    known: dict[str, _Number] = {}
    for numbers in found:
        for name, number in numbers.items():
            if name not in known or number.decides:
                known[name] = number
    if not known:
        raise NotApplicable("no run holds any of the card's numbers")
    columns = sorted(known.values(), key=lambda number: _order(number, found))
    heads = _heads(columns)
    names = [{"run": run.label, "folder": run.title} for run in sources]
    lines = [
        {**name, **{head + end: getattr(numbers.get(each.name), part, None) for each, head in zip(columns, heads, strict=True) for end, part in _PARTS.items()}}
        for name, numbers in zip(names, found, strict=True)
    ]  # fmt: skip
    frame = pd.DataFrame(lines)
    frame[frame.columns[2:]] = frame[frame.columns[2:]].astype(float)
    decisive = [(each, head) for each, head in zip(columns, heads, strict=True) if each.decides]
    printed = pd.DataFrame({"run": [run.label for run in sources]})
    for each, head in decisive:
        cells = [numbers.get(each.name) for numbers in found]
        printed[head] = ["–" if n is None else with_interval(n.value, n.low, n.high) for n in cells]
    questions = ("", *(each.question for each, _ in decisive))
    caption = "One row per run: test accuracy and, for each question of the card, the number that decides it, with 95 % interval."
    return PaperTable(frame, printed, 1, caption, questions)


def _numbers(run: Run) -> list[_Number]:
    """Accuracy first, then the findings in the order of the card."""
    found = []
    if performance := run.results.about.get("run", {}).get("performance"):
        low, high = performance["accuracy_interval"] or (None, None)
        found.append(
            _Number("", _ACCURACY, _ACCURACY, True, performance["accuracy"], low, high, performance["majority"], 1.0, 0.0)
        )  # fmt: skip
    for answer in run.results.card().answers:
        found += [
            _Number(answer.question, each.name, each.meaning, not at, each.value, each.low, each.high, each.floor, each.ceiling, each.nan_share)
            for at, each in enumerate(answer.findings)
        ]  # fmt: skip
    return found


def _order(number: _Number, found: Sequence[dict[str, _Number]]) -> tuple[int, int]:
    """By question as on the card, accuracy first; within a question, by the earliest place in any run."""
    questions = [
        "",
        *dict.fromkeys(each.question for numbers in found for each in numbers.values()),
    ]
    place = min(list(numbers).index(number.name) for numbers in found if number.name in numbers)
    return questions.index(number.question), place


def _heads(columns: Sequence[_Number]) -> list[str]:
    """What each number means; and which it is, where two mean the same, as of one audit with several options."""
    meanings = [each.meaning for each in columns]
    return [each.meaning if meanings.count(each.meaning) == 1 else f"{each.meaning} [{each.name}]" for each in columns]  # fmt: skip
