"""A folder to publish: a first page over all runs, and per run as many pages as its examples need.

Plain files that link to each other.
"""

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

_EXAMPLES_PER_PAGE = 200
_BYTES_PER_PAGE = 8_000_000  # of examples
_BYTES_ON_INDEX = 4_000_000  # of examples, over all runs


def write_site(results: Sequence[Results], folder: Path, *, folders: Sequence[Path] = ()) -> Path:
    """Write index.html, run-1.html, run-1-2.html, …

    A page opened from disk cannot load data from another file, so every page holds its own.

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
    folder = Path(folder)
    check_site(folder)
    names = [f"run-{index + 1}.html" for index in range(len(results))]
    for index, (result, name) in enumerate(zip(results, names, strict=True)):
        parts = _parts(all_examples(result))
        further = [f"run-{index + 1}-{part + 1}.html" for part in range(1, len(parts))]
        addresses = [name, *further]
        for part, examples in enumerate(parts):
            data = {"examples": examples, "rule": _rule(part, parts)}
            others = [
                (f"Examples, part {number + 1}", address)
                for number, address in enumerate(addresses)
                if number != part
            ]
            links = [("All runs", "index.html"), *others]
            own = folders[index : index + 1]
            html = page_html([result], [data], folders=own, links=links)
            write_file(folder / addresses[part], html)
    budget = _BYTES_ON_INDEX // max(len(results), 1)
    first = [example_data(result, budget=budget) for result in results]
    links = [
        (f"{title(result)}: all examples", name)
        for result, name in zip(results, names, strict=True)
    ]
    html = page_html(results, first, folders=folders, links=links)
    return write_file(folder / "index.html", html)


def check_site(folder: Path) -> None:
    """Reject a folder whose pages attnaudit did not write; its own site may be written again."""
    check_writable(folder)
    for path in (folder / "index.html", *folder.glob("run-*.html")):
        check_file(path)


def _parts(examples: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The examples of each page, limited in number and bytes; at least one page."""
    parts: list[list[dict[str, Any]]] = [[]]
    size = 0
    for example in examples:
        length = len(json.dumps(example))
        is_full = len(parts[-1]) == _EXAMPLES_PER_PAGE or size + length > _BYTES_PER_PAGE
        if parts[-1] and is_full:
            parts.append([])
            size = 0
        parts[-1].append(example)
        size += length
    return parts


def _rule(part: int, parts: list[list[dict[str, Any]]]) -> str:
    total = sum(map(len, parts))
    if len(parts) == 1:
        return f"All {total:,} examples that were kept whole."
    before = sum(map(len, parts[:part]))
    return (
        f"Examples {before + 1:,} to {before + len(parts[part]):,} of the {total:,} that were kept "
        "whole; the others are on the pages linked above."
    )
