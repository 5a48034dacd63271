"""A folder to publish: a first page over all runs, and for each run as many pages as its kept examples take. Plain files, linked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attnaudit.core.output_files import check_file, check_writable, write_file
from attnaudit.report.examples import all_examples, example_data
from attnaudit.report.overview import title
from attnaudit.report.page import page_html
from attnaudit.results.results import Results

_A_PAGE = 200
_BYTES = 8_000_000  # of examples a page
_FIRST = 4_000_000  # of examples on the first page, over all runs


def write_site(results: Sequence[Results], folder: Path, *, folders: Sequence[Path] = ()) -> Path:
    """index.html, run-1.html, run-1-2.html, …; a page read from disk cannot load another's data, so every page holds its own."""
    folder = Path(folder)
    check_site(folder)
    names = [f"run-{at + 1}.html" for at in range(len(results))]
    for at, (each, name) in enumerate(zip(results, names, strict=True)):
        parts = _parts(all_examples(each))
        addresses = [name, *(f"run-{at + 1}-{number + 1}.html" for number in range(1, len(parts)))]
        for number, part in enumerate(parts):
            data = {"examples": part, "rule": _rule(number, parts)}
            links = [("All runs", "index.html"), *((f"Examples, part {n + 1}", address) for n, address in enumerate(addresses) if n != number)]  # fmt: skip
            write_file(folder / addresses[number], page_html([each], [data], folders=folders[at : at + 1], links=links))  # fmt: skip
    first = [example_data(each, budget=_FIRST // max(len(results), 1)) for each in results]
    links = [
        (f"{title(each)}: all examples", name) for each, name in zip(results, names, strict=True)
    ]
    return write_file(
        folder / "index.html", page_html(results, first, folders=folders, links=links)
    )


def check_site(folder: Path) -> None:
    """A folder may be written again, but never over a page of another site."""
    check_writable(folder)
    for path in (folder / "index.html", *folder.glob("run-*.html")):
        check_file(path)


def _parts(examples: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """At most so many examples and bytes each; one part at least."""
    parts: list[list[dict[str, Any]]] = [[]]
    size = 0
    for example in examples:
        length = len(json.dumps(example))
        if parts[-1] and (len(parts[-1]) == _A_PAGE or size + length > _BYTES):
            parts.append([])
            size = 0
        parts[-1].append(example)
        size += length
    return parts


def _rule(number: int, parts: list[list[dict[str, Any]]]) -> str:
    total = sum(map(len, parts))
    if len(parts) == 1:
        return f"All {total:,} examples that were kept whole."
    before = sum(map(len, parts[:number]))
    return f"Examples {before + 1:,} to {before + len(parts[number]):,} of the {total:,} that were kept whole; the others are on the pages linked above."  # fmt: skip
