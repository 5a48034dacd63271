"""What a page says about one run: computed once, and used on every page that shows the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from markupsafe import Markup

from attnaudit.core.errors import InputError
from attnaudit.core.notices import notice
from attnaudit.core.paths import without_folders
from attnaudit.report import overview
from attnaudit.report.charts.chart_data import POINTS, chart_data
from attnaudit.report.explanation_table import explanation_table
from attnaudit.report.inline_data import as_json
from attnaudit.report.row_effects import row_effects
from attnaudit.results.card import Card
from attnaudit.results.results import Results
from attnaudit.results.rows import row_names

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class RunData:
    """One run on a page.

    Attributes
    ----------
    head : what the templates show of it: title, card, facts …
    choices : what it was trained with; empty if it was not trained here.
    classes, rows : the names of both.
    charts, tables, examples : JSON for the page's scripts.
    """

    head: dict[str, Any]
    choices: dict[str, Any]
    classes: list[str]
    rows: list[str]
    charts: Markup
    tables: Markup
    examples: Markup


def run_data(
    results: Results, examples: dict[str, Any], *, points: int = POINTS, by_class: bool = True
) -> RunData:
    """Everything a page needs of a run; nothing in it refers to the results.

    Parameters
    ----------
    results
        Of the run.
    examples
        From `example_data`.
    points
        In a scatter plot, at most.
    by_class
        Whether the tables are also by predicted class.
    """
    return RunData(
        run_head(results),
        results.about.get("run", {}).get("choices", {}),
        results.about["classes"],
        row_names(results.about),
        as_json(chart_data(results, points=points)),
        as_json(overview.tables(results, by_class=by_class)),
        as_json(examples),
    )


def run_head(results: Results) -> dict[str, Any]:
    """What the templates show of a run."""
    return {
        "title": overview.title(results),
        "facts": overview.facts(results),
        "card": _without_folders(results.card()),
        "scales": results.about.get("scales", {}),
        "marks": overview.on_marks(results),
        "effects": row_effects(results),
        "explanations": explanation_table(results),
        "missing": overview.missing(results),
    }


def _without_folders(card: Card) -> Card:
    """The card with commands that name no folders of the machine: a page may be passed on."""
    steps = tuple((text, without_folders(command)) for text, command in card.steps)
    return replace(card, steps=steps)


def of_each(
    results: Sequence[Results], make: Callable[[int, Results], T]
) -> Iterator[tuple[int, T]]:
    """(index, make(index, results)) of each run, one after another; a notice names damaged ones.

    Raises
    ------
    InputError
        At the end, if all of them are damaged.
    """
    errors: list[str] = []
    for index in range(len(results)):
        try:
            page_part = make(index, results[index])
        except InputError as error:
            errors.append(str(error))
        else:
            yield index, page_part
    if errors and len(errors) == len(results):
        raise InputError("\n".join(errors))
    for reason in errors:
        notice(f"left out: {reason}")
