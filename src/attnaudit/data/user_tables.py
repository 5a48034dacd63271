"""The user's own data as Splits: a pandas frame, a Hugging Face dataset, or any tables with named columns."""

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
from attnaudit.data.splits import Example, Splits

SPLITS = {
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
    """Splits of a pandas frame, by the names of its columns. Columns, other options and rules are those of text_file."""
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
    """Splits of a Hugging Face Dataset or DatasetDict. Names of classes are its own; columns and options are those of text_file.

    Of a DatasetDict, train, validation and test count; what else it holds is left out and named in the notes.
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
        if SPLITS.get(str(key).lower()) in tables:
            raise InputError(
                f"{name}: {key!r} is the second {SPLITS[str(key).lower()]} split in {list(dataset)}. Take one out."
            )
        if str(key).lower() in SPLITS:
            tables[SPLITS[str(key).lower()]] = _checked_dataset_table(part, f"{name}[{key!r}]")
    left_out = [str(key) for key in dataset if str(key).lower() not in SPLITS]
    if "train" not in tables:
        raise InputError(
            f"{name}: there is no split 'train', got {list(dataset)}. Give the one to learn from this name."
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
    """Of tables by split, or of one table "" that may have a column for it."""
    whole_number(prepare.corpus, "min_count", min_count, least=1)
    labels: Labels | None = None
    read: list[Example] = []
    chosen: dict[str, Any] = {}
    for part, table in tables.items():
        here = (columns if part == "" else replace(columns, split="")).settled(
            table.columns, table.where, table.head
        )
        names = table.classes(here.label or "")
        labels = labels or Labels(names)
        if names != labels.names:
            raise InputError(
                f"{table.where}: its classes {names} are not those of the other splits, {labels.names}."
            )
        chosen[part or "all"] = here.told()
        read += prepare.examples(_texts(table, part, here, labels, prepare))
    assert labels is not None  # there is at least one table
    classes = labels.classes()
    if len(classes) < 2:
        raise InputError(
            f"{prepare.corpus}: a classifier needs at least two classes, got {[each[:40] for each in classes]} in {len(read)} rows. "
            "Check the label column."
        )
    read_in_order = labels.in_order(read)
    given = {
        split: prepare.within_length(
            [each for each in read_in_order if each.example_id.partition("/")[0] in ours], split
        )
        for split, ours in {"train": ("train", "row"), "dev": ("dev",), "test": ("test",)}.items()
    }
    if not given["train"]:
        raise InputError(
            f"{prepare.corpus}: no example to learn from is left. Check the split column and the bounds on length."
        )
    splits, rule = fill_splits(given, classes, corpus=prepare.corpus, seed=seed)
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
    for number, (where, row) in enumerate(table.rows(list(columns.told().values()))):
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
        if labels.refused:
            raise labels.refused


def _split(value: Any, where: str) -> str:
    found = SPLITS.get(value.strip().lower()) if isinstance(value, str) else None
    if found is None:
        raise InputError(
            f"{where}: the split must be one of {', '.join(SPLITS)}, got {str(value)[:40]!r}."
        )
    return found


def _checked_dataset_table(dataset: Any, name: str) -> Table:
    if not is_dataset(dataset):
        raise InputError(
            f"from_dataset needs a Hugging Face Dataset or DatasetDict, got {type(dataset).__name__} without column names."
        )
    return dataset_table(dataset, name)
