"""The user's own texts: a csv, tsv, jsonl, json or parquet file with a column for the text and one for the label."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Any

from attnaudit.core import registry
from attnaudit.core.errors import InputError
from attnaudit.data.corpus_info import About, describes
from attnaudit.data.reading.columns import Columns, column_name
from attnaudit.data.reading.options import yes_or_no
from attnaudit.data.reading.preprocessing import Preparation
from attnaudit.data.reading.streams import shown
from attnaudit.data.reading.tables import endings, file_table
from attnaudit.data.splits import Splits
from attnaudit.data.user_tables import splits_of

ABOUT = About(
    title="Your own texts: csv, tsv, jsonl, json or parquet",
    task="classes of texts, or of texts with a query, with evidence where there is a column of it",
    size="of the file",
    licence="yours",
    home="--dataset reviews.csv:text=review,label=stars",
    places=(),
)


@describes(ABOUT)
def text_file(
    *,
    path: str | None = None,
    dev: str | None = None,
    test: str | None = None,
    text: str | None = None,
    label: str | None = None,
    query: str | None = None,
    evidence: str | None = None,
    split: str | None = None,
    delimiter: str | None = None,
    quoted: bool = True,
    encoding: str | None = None,
    tokeniser: str = "auto",
    replace_numbers: bool = True,
    more_than: int | None = None,
    fewer_than: int | None = None,
    min_count: int = 1,
    sentences: bool = False,
    seed: int = 0,
    skip_bad: bool = False,
) -> Splits:
    """A file of examples, one a row. text, label, query, evidence and split name columns; usual names need not be given.

    Evidence is a list of phrases, or of [first character, one after the last], as JSON in a csv file; all that is marked is in the text.
    Where no column `split` says train, dev or test, and no file `dev` or `test` is given, a tenth of the examples each is dev and test:
    stratified, seeded, identical texts in the same one. The file is read again each time and never copied into the cache.
    Delimiter and encoding are inferred if omitted.
    """
    yes_or_no("text_file", "quoted", quoted)
    named = {"path": path, "dev": dev, "test": test}
    for option, value in named.items():
        if not (isinstance(value, str) and value) and (option == "path" or value is not None):
            raise InputError(
                f"text_file: {option} must be the path of a file, got {value!r}. Write for example text_file:path=reviews.csv."
            )
    paths = {
        option: Path(value).expanduser() for option, value in named.items() if value is not None
    }
    prepare = Preparation(
        paths["path"].name,
        tokeniser=tokeniser,
        replace_numbers=replace_numbers,
        more_than=more_than,
        fewer_than=fewer_than,
        sentences=sentences,
        skip_bad=skip_bad,
    )
    columns = Columns(*map(column_name, (text, label, query, evidence, split)))
    parts = {"path": "train" if len(paths) > 1 else "", "dev": "dev", "test": "test"}
    names = [each.name for each in paths.values()]
    tables = {
        parts[option]: file_table(
            each,
            prepare.bad,
            delimiter=delimiter,
            quoted=quoted,
            encoding=encoding,
            where=shown(each.name if names.count(each.name) == 1 else f"{each.name} ({option})"),
        )
        for option, each in paths.items()
    }
    return splits_of(tables, columns, prepare, min_count=min_count, seed=seed)


def file_choice(choice: str, known: Container[str]) -> tuple[str, dict[str, Any]] | None:
    """("text_file", its options) of a choice that is the path of a file, "reviews.csv:label=stars", and no name of a dataset.

    A path may have colons and commas in it if there is a file of this name; the longest such counts.
    """
    if choice.split(":")[0] in known:
        return None
    ends = endings(choice)
    there = [end for end in (*ends, len(choice)) if _is_file(choice[:end])]
    # 2: a Windows path begins with a letter and a colon
    plain = [end for end in ends if ":" not in choice[2:end]]
    if not there and not plain:
        return None
    end = max(there) if there else plain[0]
    name, options = registry.parse(f"text_file{choice[end:]}")
    return name, {"path": choice[:end], **options}


def _is_file(name: str) -> bool:
    try:
        return Path(name).expanduser().is_file()
    except (OSError, ValueError, RuntimeError):  # too long, or no possible name
        return False
