"""A folder to publish: a first page over all runs, and per run as many pages as its examples need.

Plain files that link to each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from markupsafe import Markup

from attnaudit.core.output_files import check_file, check_writable, write_file
from attnaudit.report import overview
from attnaudit.report.examples import all_examples, example_data
from attnaudit.report.inline_data import as_json
from attnaudit.report.page import MANY, asked_questions, heads_of, page_html, render
from attnaudit.report.related_findings import RelatedFindings
from attnaudit.report.run_data import RunData, of_each, run_data
from attnaudit.results.results import Results

_EXAMPLES_PER_PAGE = 500
_BYTES_PER_PAGE = 8_000_000  # of examples
_BYTES_ON_INDEX = 4_000_000  # of examples, over all runs


def write_site(results: Sequence[Results], folder: Path, *, folders: Sequence[Path] = ()) -> Path:
    """Write index.html, run-1.html, run-1-2.html, …

    A page opened from disk cannot load data from another file, so every page holds its own; it is
    computed once per run. With more than twelve runs, the first page is a table of all cards.

    Parameters
    ----------
    results
        One per run.
    folder
        The folder to write to.
    folders
        The run directories, one per result; findings stored in or next to them are shown too.

    Returns
    -------
    Path
        The first page.
    """
    check_site(Path(folder))
    return write_site_of(results, Path(folder), folders=folders)[0]


def write_site_of(
    results: Sequence[Results], folder: Path, *, folders: Sequence[Path] = ()
) -> tuple[Path, int]:
    """`write_site`, and how many runs are in it: damaged ones are named and left out."""
    many = len(results) > MANY
    budget = _BYTES_ON_INDEX // max(len(results), 1)
    findings = RelatedFindings()
    runs: list[RunData] = []
    shown: list[Path] = []

    def make(_: int, result: Results) -> tuple[RunData, list[Markup]]:
        first = {} if many else example_data(result, budget=budget)
        return run_data(result, first), [as_json(example) for example in all_examples(result)]

    for index, (run, examples) in of_each(results, make):
        own = folders[index : index + 1]
        _write_run(run, examples, folder, len(runs) + 1, findings.of(own))
        shown += own
        runs.append(_without_data(run) if many else run)
    heads = heads_of(runs, overview.dimensions([run.choices for run in runs]))
    names = [f"run-{number + 1}.html" for number in range(len(runs))]
    if many:
        html = render(
            "site_index.html",
            runs=list(zip(heads, names, strict=True)),
            questions=asked_questions(heads),
            data={},
            scripts=(),
        )
    else:
        titles = [f"{run.head['title']}: all examples" for run in runs]
        links = list(zip(titles, names, strict=True))
        html = page_html(runs, related=findings.of(shown), links=links)
    return write_file(folder / "index.html", html), len(runs)


def _write_run(
    run: RunData, examples: Sequence[Markup], folder: Path, number: int, related: Markup
) -> None:
    """Write the pages of one run, which differ in their examples only."""
    parts = _parts(examples)
    further = [f"run-{number}-{part + 1}.html" for part in range(1, len(parts))]
    addresses = [f"run-{number}.html", *further]
    for part, texts in enumerate(parts):
        block = f'{{"examples":[{",".join(texts)}],"rule":{as_json(_rule(part, parts))}}}'
        others = [
            (f"Examples, part {other + 1}", address)
            for other, address in enumerate(addresses)
            if other != part
        ]
        links = [("All runs", "index.html"), *others]
        html = page_html([replace(run, examples=Markup(block))], related=related, links=links)
        write_file(folder / addresses[part], html)


def _without_data(run: RunData) -> RunData:
    """What a table of all runs needs."""
    return replace(run, charts=Markup(), tables=Markup(), examples=Markup())


def check_site(folder: Path) -> None:
    """Reject a folder whose pages attnaudit did not write; its own site may be written again."""
    check_writable(folder)
    for path in (folder / "index.html", *folder.glob("run-*.html")):
        check_file(path)


def _parts(examples: Sequence[Markup]) -> list[Sequence[Markup]]:
    """The examples of each page, limited in number and bytes; at least one page."""
    starts, size = [0], 0
    for number, example in enumerate(examples):
        is_full = number - starts[-1] == _EXAMPLES_PER_PAGE or size + len(example) > _BYTES_PER_PAGE
        if number > starts[-1] and is_full:
            starts.append(number)
            size = 0
        size += len(example)
    return [examples[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]


def _rule(part: int, parts: Sequence[Sequence[Markup]]) -> str:
    total = sum(map(len, parts))
    if len(parts) == 1:
        return f"All {total:,} examples that were kept whole."
    before = sum(map(len, parts[:part]))
    return (
        f"Examples {before + 1:,} to {before + len(parts[part]):,} of the {total:,} that were kept "
        "whole; the others are on the pages linked above."
    )
