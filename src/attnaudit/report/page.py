"""One self-contained HTML page: overview, charts, examples and playground.

Every text in it comes from outside and is shown as text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from attnaudit.core.output_files import check_file, write_file
from attnaudit.report import overview, scripts
from attnaudit.report.charts.chart_data import POINTS, chart_data
from attnaudit.report.examples import example_data
from attnaudit.report.inline_data import as_json, policy, static, with_visible_turns
from attnaudit.report.related_findings import related_findings
from attnaudit.report.row_effects import row_effects
from attnaudit.results.number_formats import MISSING, number, percent, with_interval
from attnaudit.results.questions import Question
from attnaudit.results.reliability import reliability
from attnaudit.results.results import Results
from attnaudit.results.rows import row_names

# Bytes of examples. A page of one run stays under 5 MB and one of 72 under 25 MB: the bundle for
# the charts is 0.9 MB, a run's other numbers about 0.1 MB.
_EXAMPLE_BYTES, _ALL_EXAMPLE_BYTES = 3_000_000, 15_000_000
_MANY = 12  # runs; with more, fewer points per chart, and no tables by class


def write_page(
    results: Sequence[Results],
    path: Path,
    *,
    folders: Sequence[Path] = (),
    links: Sequence[tuple[str, str]] = (),
) -> Path:
    """Write the page of one or several results, whole or not at all.

    Parameters
    ----------
    results
        One per run.
    path
        The page to write.
    folders
        The run directories, one per result; findings stored in or next to them are shown too.
    links
        (text, address) of other pages.

    Returns
    -------
    Path
        The page.
    """
    check_file(path)  # now, not after a minute of charts
    budget = min(_EXAMPLE_BYTES, _ALL_EXAMPLE_BYTES // max(len(results), 1))
    examples = [example_data(result, budget=budget) for result in results]
    return write_file(path, page_html(results, examples, folders=folders, links=links))


def page_html(
    results: Sequence[Results],
    examples: Sequence[dict[str, Any]],
    *,
    folders: Sequence[Path] = (),
    links: Sequence[tuple[str, str]] = (),
) -> str:
    """The page as text; examples: of each result, from `example_data`."""
    many = len(results) > _MANY
    dimensions = overview.dimensions(results)
    runs = [_run(result, index) for index, result in enumerate(results)]
    for run, dims in zip(runs, dimensions, strict=True):
        if "other" in dims:  # distinguishes it from a run of the same name
            run["title"] = f"{run['title']} · {dims['other']}"
    data: dict[str, Any] = {
        "runs": [
            {
                "title": run["title"],
                "dimensions": dims,
                "classes": result.about["classes"],
                "rows": row_names(result.about),
            }
            for run, dims, result in zip(runs, dimensions, results, strict=True)
        ]
    }
    for index, (result, result_examples) in enumerate(zip(results, examples, strict=True)):
        data[f"charts-{index}"] = chart_data(result, points=POINTS // 4 if many else POINTS)
        data[f"tables-{index}"] = overview.tables(result, by_class=not many)
        data[f"examples-{index}"] = result_examples
    data["related"] = related_findings(folders)
    asked = [
        question
        for question in Question
        if any(run["card"].answer_to(question) != MISSING for run in runs)
    ]
    return render(
        "page.html",
        runs=runs,
        questions=asked,
        data=data,
        links=links,
        many=many,
        scripts=scripts.PAGE,
    )


def render(template: str, *, scripts: Sequence[str], data: dict[str, Any], **values: Any) -> str:
    """A page with these scripts and data inline, and a policy under which nothing else runs."""
    texts = [static(name) for name in scripts]
    blocks = {name: as_json(content) for name, content in data.items()}
    return (
        environment()
        .get_template(template)
        .render(scripts=texts, blocks=blocks, policy=policy(texts), **values)
    )


def card_html(results: Results) -> str:
    """The card alone, for a notebook."""
    return environment().get_template("card_only.html").render(run=_run(results, 0))


@cache
def environment() -> Environment:
    """The templates, with the filters for numbers."""
    templates = Environment(
        loader=PackageLoader("attnaudit.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=with_visible_turns,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "number": number,
        "percent": percent,
        "bar": overview.bar,
        "interval": with_interval,
        "reliability": reliability,
    }
    templates.filters |= filters
    return templates


def _run(results: Results, index: int) -> dict[str, Any]:
    return {
        "index": index,
        "title": overview.title(results),
        "facts": overview.facts(results),
        "card": results.card(),
        "scales": results.about.get("scales", {}),
        "marks": overview.on_marks(results),
        "effects": row_effects(results),
        "missing": overview.missing(results),
    }
