"""One self-contained HTML page: overview, charts, examples, playground. Every text in it is data from outside and is shown as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from attnaudit.core.output_files import check_file, write_file
from attnaudit.report import overview
from attnaudit.report.charts.chart_data import POINTS, chart_data
from attnaudit.report.examples import example_data
from attnaudit.report.inline_data import as_json, policy, static
from attnaudit.report.related_findings import beside
from attnaudit.report.row_effects import row_effects
from attnaudit.results.number_formats import number, percent, with_interval
from attnaudit.results.results import Results
from attnaudit.results.rows import row_names

SCRIPTS = ("dom.js", "unpack.js", "exact.js", "heatmap.js", "outcome.js", "word_field.js", "playground.js", "examples.js", "numbers.js", "vega.js",
           "chart_specs.js", "chart_specs_more.js", "chart_figure.js", "browse.js", "page.js")  # fmt: skip
# A page of one run stays under 5 MB and one of 72 under 25 MB: the bundle for the charts is 0.9 MB, a run's other numbers about 0.1 MB.
_EXAMPLES, _ALL_EXAMPLES = 3_000_000, 15_000_000
_MANY = 12  # runs; from there on fewer points a chart, and no tables by class


def write_page(
    results: Sequence[Results], path: Path, *, folders: Sequence[Path] = (), links: Sequence[tuple[str, str]] = ()
) -> Path:  # fmt: skip
    """The page of one or several results, written whole or not at all. folders: where the runs lie, to show what else lies there."""
    check_file(path)  # now, not after a minute of charts
    examples = min(_EXAMPLES, _ALL_EXAMPLES // max(len(results), 1))
    found = [example_data(each, budget=examples) for each in results]
    return write_file(path, page_html(results, found, folders=folders, links=links))


def page_html(
    results: Sequence[Results],
    examples: Sequence[dict[str, Any]],
    *,
    folders: Sequence[Path] = (),
    links: Sequence[tuple[str, str]] = (),
) -> str:
    many = len(results) > _MANY
    dims = overview.dimensions(results)
    runs = [_run(each, at) for at, each in enumerate(results)]
    for run, dim in zip(runs, dims, strict=True):
        if "other" in dim:  # what tells it from a run of the same name
            run["title"] = f"{run['title']} · {dim['other']}"
    data: dict[str, Any] = {
        "runs": [
            {
                "title": run["title"],
                "dimensions": dim,
                "classes": each.about["classes"],
                "rows": row_names(each.about),
            }
            for run, dim, each in zip(runs, dims, results, strict=True)
        ]
    }
    for at, (each, shown) in enumerate(zip(results, examples, strict=True)):
        data[f"charts-{at}"] = chart_data(each, points=POINTS // 4 if many else POINTS)
        data[f"tables-{at}"] = overview.tables(each, by_class=not many)
        data[f"examples-{at}"] = shown
    data["beside"] = beside(folders)
    return render("page.html", runs=runs, data=data, links=links, many=many, scripts=SCRIPTS)


def render(template: str, *, scripts: Sequence[str], data: dict[str, Any], **values: Any) -> str:
    """A page with these scripts and data in it, and the policy that lets only them run."""
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
    made = Environment(
        loader=PackageLoader("attnaudit.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "number": number,
        "percent": percent,
        "bar": overview.bar,
        "interval": with_interval,
    }
    made.filters |= filters
    return made


def _run(results: Results, at: int) -> dict[str, Any]:
    return {
        "at": at,
        "title": overview.title(results),
        "facts": overview.facts(results),
        "card": results.card(),
        "scales": results.about.get("scales", {}),
        "marks": overview.on_marks(results),
        "effects": row_effects(results),
        "missing": overview.missing(results),
    }
