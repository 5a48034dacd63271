"""The user's own tables as Splits: a pandas frame, a Hugging Face dataset or tables from files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.reading.columns import Columns
from attnaudit.data.reading.evidence_spans import evidence_spans
from attnaudit.data.reading.labels import Labels
from attnaudit.data.reading.memory_tables import dataset_table, frame_table, is_dataset, is_frame
from attnaudit.data.reading.options import whole_number
from attnaudit.data.reading.preprocessing import Preparation, Text
from attnaudit.data.reading.splitting import fill_splits
from attnaudit.data.reading.tables import Table
from attnaudit.data.reading.text_values import text_value
from attnaudit.data.splits import SPLITS, Example, Splits

SPLIT_NAMES = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("dev", "val", "valid", "validation", "development"), "dev"),
    **dict.fromkeys(("test", "testing"), "test"),
}


def from_frame(
    frame: Any,
    *,
    text: str | None = None,
    label: str | None = None,
    query: str | None = None,
    evidence: str | None = None,
    split: str | None = None,
    name: str = "frame",
    min_count: int = 1,
    seed: int = 0,
    **preparing: Any,
) -> Splits:
    """Make splits of a pandas frame.

    Parameters
    ----------
    frame : pandas.DataFrame
        One example per row.
    text, label, query, evidence, split : str, optional
        Names of columns; inferred from common names if omitted.
    name : str
        Name of the data in messages and results.
    min_count : int
        Number of training texts a word must occur in to be in the vocabulary.
    seed : int
        Seed of the random splits, which are made if there is no split column.
    **preparing
        Options of `Preparation`: tokeniser, replace_numbers, more_than, fewer_than, sentences,
        skip_bad.

    Returns
    -------
    Splits
        Tokenised train, dev and test examples.

    Examples
    --------
    >>> import pandas
    >>> frame = pandas.DataFrame({
    ...     "review": [f"{word} film number {i}" for i in range(10) for word in ("dull", "great")],
    ...     "stars": [1, 5] * 10,
    ... })
    >>> splits = from_frame(frame, text="review", label="stars", replace_numbers=False)
    >>> splits.classes, len(splits.train), len(splits.dev), len(splits.test)
    (('1', '5'), 16, 2, 2)
    """
    prepare = Preparation(name, **preparing)
    columns = Columns(text, label, query, evidence, split)
    if not is_frame(frame):
        raise InputError(f"from_frame needs a pandas DataFrame, got {type(frame).__name__}.")
    return splits_of(
        {"": frame_table(frame, name)}, columns, prepare, min_count=min_count, seed=seed
    )


def from_dataset(
    dataset: Any,
    *,
    text: str | None = None,
    label: str | None = None,
    query: str | None = None,
    evidence: str | None = None,
    split: str | None = None,
    name: str = "dataset",
    min_count: int = 1,
    seed: int = 0,
    **preparing: Any,
) -> Splits:
    """Make splits of a Hugging Face Dataset or DatasetDict.

    Parameters
    ----------
    dataset : datasets.Dataset or datasets.DatasetDict
        Class names are its own. Of a DatasetDict, train, validation and test are read; other
        splits are left out and listed in the notes.
    text, label, query, evidence, split, name, min_count, seed, **preparing
        As for `from_frame`.

    Returns
    -------
    Splits
        Tokenised train, dev and test examples.
    """
    prepare = Preparation(name, **preparing)
    columns = Columns(text, label, query, evidence, split)
    if not isinstance(dataset, Mapping):
        return splits_of(
            {"": _checked_dataset_table(dataset, name)},
            columns,
            prepare,
            min_count=min_count,
            seed=seed,
        )
    tables: dict[str, Table] = {}
    for key, part in dataset.items():
        split_name = SPLIT_NAMES.get(str(key).lower())
        if split_name in tables:
            raise InputError(
                f"{name}: {key!r} is the second {split_name} split in {list(dataset)}. "
                "Remove one of them."
            )
        if split_name is not None:
            tables[split_name] = _checked_dataset_table(part, f"{name}[{key!r}]")
    left_out = [str(key) for key in dataset if str(key).lower() not in SPLIT_NAMES]
    if "train" not in tables:
        raise InputError(
            f"{name}: there is no split 'train', got {list(dataset)}. "
            "Rename the split to train on to 'train'."
        )
    return splits_of(
        tables, columns, prepare, min_count=min_count, seed=seed, splits_left_out=left_out
    )


def splits_of(
    tables: Mapping[str, Table],
    columns: Columns,
    prepare: Preparation,
    *,
    min_count: int,
    seed: int,
    **notes: Any,
) -> Splits:
    """Make splits of tables by split name, or of one table "" that may have a split column.

    `notes` are added to those of the result.
    """
    whole_number(prepare.corpus, "min_count", min_count, least=1)
    labels: Labels | None = None
    read: list[Example] = []
    chosen: dict[str, Any] = {}
    for part, table in tables.items():
        given = columns if part == "" else replace(columns, split="")
        resolved = given.resolved(table.columns, table.where, table.head)
        names = table.classes(resolved.label or "")
        labels = labels or Labels(names)
        if names != labels.names:
            raise InputError(
                f"{table.where}: its classes {names} are not those of the other splits, "
                f"{labels.names}."
            )
        chosen[part or "all"] = resolved.named()
        read += prepare.examples(_texts(table, part, resolved, labels, prepare))
    assert labels is not None  # there is at least one table
    classes = labels.classes()
    if len(classes) < 2:
        raise InputError(
            f"{prepare.corpus}: a classifier needs at least two classes, "
            f"got {[name[:40] for name in classes]} in {len(read)} rows. Check the label column."
        )
    labelled = labels.in_order(read)
    prefixes = {"train": ("train", "row"), "dev": ("dev",), "test": ("test",)}
    by_split = {
        split: prepare.within_length(
            [
                example
                for example in labelled
                if example.example_id.partition("/")[0] in prefixes[split]
            ],
            split,
        )
        for split in SPLITS
    }
    if not by_split["train"]:
        raise InputError(
            f"{prepare.corpus}: no training example is left. "
            "Check the split column and the bounds on length."
        )
    splits, rule = fill_splits(by_split, classes, corpus=prepare.corpus, seed=seed)
    return prepare.finish(
        train=splits["train"],
        dev=splits["dev"],
        test=splits["test"],
        classes=classes,
        min_count=min_count,
        source=", ".join(table.where for table in tables.values()),
        columns=chosen.get("all", chosen),
        rule=rule,
        **notes,
    )


def _texts(
    table: Table, part: str, columns: Columns, labels: Labels, prepare: Preparation
) -> Iterator[Text]:
    for number, (where, row) in enumerate(table.rows(list(columns.named().values()))):
        with prepare.bad:
            text = text_value(row, columns.text or "", "text", where, prepare.bad)
            split = _split(row.get(columns.split), where) if columns.split else part or "row"
            yield Text(
                f"{split}/{number}",
                where,
                text,
                labels.number(row.get(columns.label or ""), where),
                query=text_value(row, columns.query, "query", where, prepare.bad)
                if columns.query
                else None,
                evidence_spans=evidence_spans(row.get(columns.evidence), text, where)
                if columns.evidence
                else None,
            )
        if labels.fatal:
            raise labels.fatal


def _split(value: Any, where: str) -> str:
    split = SPLIT_NAMES.get(value.strip().lower()) if isinstance(value, str) else None
    if split is None:
        raise InputError(
            f"{where}: the split must be one of {', '.join(SPLIT_NAMES)}, got {str(value)[:40]!r}."
        )
    return split


def _checked_dataset_table(dataset: Any, name: str) -> Table:
    if not is_dataset(dataset):
        raise InputError(
            "from_dataset needs a Hugging Face Dataset or DatasetDict, "
            f"got {type(dataset).__name__} without column names."
        )
    return dataset_table(dataset, name)
