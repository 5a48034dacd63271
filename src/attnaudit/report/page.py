"""One self-contained HTML page: overview, charts, examples and playground.

Every text in it comes from outside and is shown as text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from attnaudit.core.output_files import check_file, write_file
from attnaudit.report import overview, scripts
from attnaudit.report.charts.chart_data import POINTS
from attnaudit.report.citations import citation_data, is_about_citations
from attnaudit.report.examples import example_data
from attnaudit.report.inline_data import as_json, policy, static, with_visible_turns
from attnaudit.report.related_findings import RelatedFindings
from attnaudit.report.run_data import RunData, of_each, run_data, run_head
from attnaudit.results.number_formats import MISSING, number, percent, probability, with_interval
from attnaudit.results.questions import Question
from attnaudit.results.reliability import reliability
from attnaudit.results.results import Results

# Bytes of examples. A page of one run stays under 5 MB and one of 72 under 25 MB: the bundle for
# the charts is 0.9 MB, a run's other numbers about 0.1 MB.
_EXAMPLE_BYTES, _ALL_EXAMPLE_BYTES = 3_000_000, 15_000_000
MANY = 12  # runs; with more, fewer points per chart, and no tables by class


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
    return write_page_of(results, path, folders=folders, links=links)[0]


def write_page_of(
    results: Sequence[Results],
    path: Path,
    *,
    folders: Sequence[Path] = (),
    links: Sequence[tuple[str, str]] = (),
) -> tuple[Path, int]:
    """`write_page`, and how many runs are on the page: damaged ones are named and left out."""
    count = len(results)
    if count == 1 and is_about_citations(results[0]):
        return write_file(path, citation_page(results[0])), 1
    many = count > MANY
    budget = min(_EXAMPLE_BYTES, _ALL_EXAMPLE_BYTES // max(count, 1))

    def make(_: int, result: Results) -> RunData:
        examples = example_data(result, budget=budget)
        return run_data(result, examples, points=POINTS // 4 if many else POINTS, by_class=not many)

    runs_written = list(of_each(results, make))
    shown = [folders[index] for index, _ in runs_written] if folders else ()
    related = RelatedFindings().of(shown)
    html = page_html([run for _, run in runs_written], related=related, links=links)
    return write_file(path, html), len(runs_written)


def page_html(
    runs: Sequence[RunData],
    *,
    related: Markup,
    links: Sequence[tuple[str, str]] = (),
) -> str:
    """The page of these runs as text; related: from `RelatedFindings`."""
    dimensions = overview.dimensions([run.choices for run in runs])
    heads = heads_of(runs, dimensions)
    data: dict[str, Any] = {
        "runs": [
            {"title": head["title"], "dimensions": dims, "classes": run.classes, "rows": run.rows}
            for run, head, dims in zip(runs, heads, dimensions, strict=True)
        ]
    }
    for index, run in enumerate(runs):
        data[f"charts-{index}"] = run.charts
        data[f"tables-{index}"] = run.tables
        data[f"examples-{index}"] = run.examples
    data["related"] = related
    return render(
        "page.html",
        runs=heads,
        questions=asked_questions(heads),
        data=data,
        links=links,
        many=len(runs) > MANY,
        scripts=scripts.PAGE,
    )


def citation_page(results: Results) -> str:
    """The page of an audit of citations as text."""
    data = citation_data(results)
    return render(
        "citations.html",
        run=run_head(results),
        data={"answers": data["answers"], "measures": data["measures"]},
        page=data,
        scripts=scripts.CITATIONS,
    )


def heads_of(runs: Sequence[RunData], dimensions: Sequence[dict[str, str]]) -> list[dict[str, Any]]:
    """What the templates show of each run, with its number; runs of one name told apart."""
    heads = [{**run.head, "index": index} for index, run in enumerate(runs)]
    for head, dims in zip(heads, dimensions, strict=True):
        if "other" in dims:  # distinguishes it from a run of the same name
            head["title"] = f"{head['title']} · {dims['other']}"
    return heads


def asked_questions(heads: Sequence[dict[str, Any]]) -> list[Question]:
    """The questions that some card answers."""
    return [
        question
        for question in Question
        if any(head["card"].answer_to(question) != MISSING for head in heads)
    ]


def render(template: str, *, scripts: Sequence[str], data: dict[str, Any], **values: Any) -> str:
    """A page with these scripts and data inline, and a policy under which nothing else runs.

    data: by name of the block; `as_json` is applied to what is not JSON already (`Markup`).
    """
    texts, allowed = _scripts(tuple(scripts))
    blocks = {
        name: content if isinstance(content, Markup) else as_json(content)
        for name, content in data.items()
    }
    return (
        environment()
        .get_template(template)
        .render(scripts=texts, blocks=blocks, policy=allowed, **values)
    )


@cache
def _scripts(names: tuple[str, ...]) -> tuple[list[Markup], Markup]:
    """The texts of these scripts, and the policy that allows them."""
    texts = [static(name) for name in names]
    return texts, policy(texts)


def card_html(results: Results) -> str:
    """The card alone, for a notebook."""
    return environment().get_template("card_only.html").render(run=run_head(results))


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
        "probability": partial(probability, digits=3),
        "percent": percent,
        "bar": overview.bar,
        "interval": with_interval,
        "reliability": reliability,
    }
    templates.filters |= filters
    return templates
