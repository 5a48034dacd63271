"""The numbers of the card, one row per run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from attnaudit.core.errors import NotApplicable
from attnaudit.report.run_sources import Run
from attnaudit.report.tables.table import PaperTable, with_interval

_ACCURACY = "test accuracy"
# Ending of a csv column -> the part of a number in it; the mean itself has the plain name.
_PARTS = {
    "": "value",
    " low": "low",
    " high": "high",
    " floor": "floor",
    " ceiling": "ceiling",
    " undefined": "nan_share",
}


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
    """Accuracy and the numbers of the card.

    As csv every number, with interval, floor, ceiling and the share of examples without a value;
    printed only the number that decides each question.
    """
    by_run = [{number.name: number for number in _numbers(run)} for run in sources]
    known: dict[str, _Number] = {}
    for numbers in by_run:
        for name, number in numbers.items():
            if name not in known or number.decides:
                known[name] = number
    if not known:
        raise NotApplicable("no run holds any of the card's numbers")
    columns = sorted(known.values(), key=lambda number: _order(number, by_run))
    heads = _heads(columns)
    names = [{"run": run.label, "folder": run.title} for run in sources]
    lines = [_line(columns, heads, numbers) for numbers in by_run]
    frame = pd.DataFrame([name | line for name, line in zip(names, lines, strict=True)])
    frame[frame.columns[2:]] = frame[frame.columns[2:]].astype(float)
    decisive = [pair for pair in zip(columns, heads, strict=True) if pair[0].decides]
    printed = pd.DataFrame({"run": [run.label for run in sources]})
    for number, head in decisive:
        cells = [numbers.get(number.name) for numbers in by_run]
        printed[head] = ["–" if n is None else with_interval(n.value, n.low, n.high) for n in cells]
    questions = ("", *(number.question for number, _ in decisive))
    caption = (
        "One row per run: test accuracy and, for each question of the card, the number that "
        "decides it, with 95 % interval."
    )
    return PaperTable(frame, printed, 1, caption, questions)


def _line(
    columns: Sequence[_Number], heads: Sequence[str], numbers: dict[str, _Number]
) -> dict[str, float | None]:
    """The csv cells of one run; None for numbers it does not have."""
    return {
        head + ending: getattr(numbers.get(column.name), part, None)
        for column, head in zip(columns, heads, strict=True)
        for ending, part in _PARTS.items()
    }


def _numbers(run: Run) -> list[_Number]:
    """Accuracy first, then the findings in the order of the card."""
    numbers = []
    if performance := run.results.about.get("run", {}).get("performance"):
        low, high = performance["accuracy_interval"] or (None, None)
        numbers.append(
            _Number(
                question="",
                name=_ACCURACY,
                meaning=_ACCURACY,
                decides=True,
                value=performance["accuracy"],
                low=low,
                high=high,
                floor=performance["majority"],
                ceiling=1.0,
                nan_share=0.0,
            )
        )
    for answer in run.results.card().answers:
        numbers += [
            _Number(
                question=answer.question,
                name=finding.name,
                meaning=finding.meaning,
                decides=index == 0,
                value=finding.value,
                low=finding.low,
                high=finding.high,
                floor=finding.floor,
                ceiling=finding.ceiling,
                nan_share=finding.nan_share,
            )
            for index, finding in enumerate(answer.findings)
        ]
    return numbers


def _order(number: _Number, by_run: Sequence[dict[str, _Number]]) -> tuple[int, int]:
    """By question as on the card, accuracy first; then by the earliest place in any run."""
    questions = [
        "",
        *dict.fromkeys(other.question for numbers in by_run for other in numbers.values()),
    ]
    place = min(list(numbers).index(number.name) for numbers in by_run if number.name in numbers)
    return questions.index(number.question), place


def _heads(columns: Sequence[_Number]) -> list[str]:
    """What each number means; with its name if two mean the same (one audit, two options)."""
    meanings = [number.meaning for number in columns]
    return [
        meaning if meanings.count(meaning) == 1 else f"{meaning} [{number.name}]"
        for meaning, number in zip(meanings, columns, strict=True)
    ]
