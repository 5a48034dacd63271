"""The user's own texts: a csv, tsv, jsonl, json or parquet file with columns for text and label."""

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
from attnaudit.data.reading.streams import printable
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
    """Read a file of examples, one per row. It is read each time and never copied into the cache.

    Parameters
    ----------
    path, dev, test : str
        The file of the user's texts, and optional files for dev and test. Without these and a
        split column, dev and test are a tenth each: stratified, with identical texts kept together.
    text, label, query, evidence, split : str, optional
        Names of columns; inferred from common names if omitted. Evidence is a list of phrases of
        the text, or of [first character, one after the last]; in a csv file it is JSON.
    delimiter, quoted, encoding
        Format of a csv file; delimiter and encoding are inferred if omitted.
    tokeniser, replace_numbers, more_than, fewer_than, sentences, skip_bad
        Options of `Preparation`.
    min_count : int
        Number of training texts a word must occur in to be in the vocabulary.
    seed : int
        Seed of the random splits.
    """
    yes_or_no("text_file", "quoted", quoted)
    given = {"path": path, "dev": dev, "test": test}
    for option, value in given.items():
        if not (isinstance(value, str) and value) and (option == "path" or value is not None):
            raise InputError(
                f"text_file: {option} must be the path of a file, got {value!r}. "
                "Write for example text_file:path=reviews.csv."
            )
    paths = {
        option: Path(value).expanduser() for option, value in given.items() if value is not None
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
    names = [file.name for file in paths.values()]
    tables = {
        parts[option]: file_table(
            file,
            prepare.bad,
            delimiter=delimiter,
            quoted=quoted,
            encoding=encoding,
            where=printable(
                file.name if names.count(file.name) == 1 else f"{file.name} ({option})"
            ),
        )
        for option, file in paths.items()
    }
    return splits_of(tables, columns, prepare, min_count=min_count, seed=seed)


def file_choice(choice: str, known: Container[str]) -> tuple[str, dict[str, Any]] | None:
    """("text_file", options) if a choice is the path of a file; None if it names a dataset.

    "reviews.csv:label=stars" is such a path with an option. The path may have colons and commas in
    it if a file of this name exists; the longest such name counts. `known` has the dataset names.
    """
    if choice.split(":")[0] in known:
        return None
    ends = endings(choice)
    existing = [end for end in (*ends, len(choice)) if _is_file(choice[:end])]
    # From 2: a Windows path begins with a letter and a colon.
    plain = [end for end in ends if ":" not in choice[2:end]]
    if not existing and not plain:
        return None
    end = max(existing) if existing else plain[0]
    name, options = registry.parse(f"text_file{choice[end:]}")
    return name, {"path": choice[:end], **options}


def _is_file(name: str) -> bool:
    try:
        return Path(name).expanduser().is_file()
    except (OSError, ValueError, RuntimeError):  # too long, or not a possible name
        return False
