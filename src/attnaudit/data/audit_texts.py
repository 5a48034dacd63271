"""The user's texts for a model with its own tokenizer, from a file or a table in memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from attnaudit.core.errors import InputError
from attnaudit.core.progress import counter
from attnaudit.data.reading.columns import ModelColumns, model_columns
from attnaudit.data.reading.labels import is_missing
from attnaudit.data.reading.memory_tables import memory_table
from attnaudit.data.reading.option_names import Spelling, in_command, in_python
from attnaudit.data.reading.row_errors import BadRows, RowError
from attnaudit.data.reading.streams import printable
from attnaudit.data.reading.tables import Table, file_table
from attnaudit.data.reading.text_values import text_value
from attnaudit.data.text_spool import SpooledText, Text, TextSpool

_LISTED = 5  # columns that were not read, listed in the summary


@dataclass(frozen=True, slots=True)
class OwnText:
    """One text, or pair of texts, with its label if there is one."""

    example_id: str
    text: Text | SpooledText
    label: Any = None
    where: str = ""  # file and line, for errors
    scores: tuple[Any, ...] = ()  # of the columns of scores that were asked for

    def content(self) -> Text:
        """The text itself, also if it is not in memory."""
        return self.text.read() if isinstance(self.text, SpooledText) else self.text


class TextsRead(NamedTuple):
    """The texts of a table, and what was skipped."""

    texts: list[OwnText]
    bad: BadRows
    summary: str  # which columns were read as what, for the user to check
    classes: Sequence[str] | None = None  # the data's own class names; labels are then numbers

    @property
    def labelled(self) -> bool:
        """Whether the texts have labels."""
        return self.texts[0].label is not None

    def labels(self, class_names: Sequence[str] | None) -> list[Any] | None:
        """Labels for a model with these classes, by name if both data and model have names.

        transformers calls classes LABEL_0, LABEL_1, … if nobody named them.
        """
        labels = [text.label for text in self.texts]
        if not self.labelled:
            return None
        if self.classes is None:
            return labels
        names = self.classes
        for text in self.texts:
            if not 0 <= int(text.label) < len(names):
                raise InputError(
                    f"{text.where}: the label {text.label} is none of the {len(names)} classes, "
                    "numbered from 0."
                )
        unnamed = all(re.fullmatch(r"LABEL_\d+", str(name)) for name in class_names or ())
        if unnamed and len(class_names or names) == len(names):
            return labels
        return [names[int(label)] for label in labels]


def read_texts(
    path: Path,
    *,
    text: str | None = None,
    label: str | None = None,
    pair: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    skip_bad: bool = False,
    spell: Spelling = in_command,
    scores: Sequence[str] = (),
    bad: BadRows | None = None,
    spool: TextSpool | None = None,
) -> TextsRead:
    """Read the texts of a csv, tsv, jsonl, json or parquet file, one per row.

    Parameters
    ----------
    path : Path
        The file.
    text, label, pair : str, optional
        Names of the columns of the text, its label and a second text; inferred from common names
        if omitted. label="" reads no labels.
    delimiter, encoding : str, optional
        Inferred if omitted.
    skip_bad : bool
        Skip and count rows that cannot be read.
    spell : Spelling
        Writes options in messages.
    scores : sequence of str
        Columns that hold the scores of the words, to be read as they are.
    bad : BadRows, optional
        Counts bad rows with those of other files, as it says, instead of `skip_bad` and `spell`.
    spool : TextSpool, optional
        Where texts are kept; in memory if omitted.
    """
    if bad is None:
        bad = BadRows(skip=skip_bad, spell=spell, can_skip=spell is not in_python)
    table = file_table(Path(path), bad, delimiter=delimiter, encoding=encoding)
    return texts_of_table(
        table, text=text, label=label, pair=pair, bad=bad, scores=scores, spool=spool
    )


def texts_of_table(
    table: Table,
    *,
    text: str | None,
    label: str | None,
    pair: str | None,
    bad: BadRows,
    scores: Sequence[str] = (),
    spool: TextSpool | None = None,
) -> TextsRead:
    """Read the texts of any table; arguments are those of `read_texts`."""
    for column in scores:
        if column not in table.columns:
            raise InputError(
                f"{table.where}: there is no column {column!r} with scores; its columns are "
                f"{', '.join(map(printable, table.columns))}."
            )
    return _texts_of(table, text, label, pair, bad, scores, spool)


def texts_in_memory(
    data: Any, *, text: str | None = None, label: str | None = None, pair: str | None = None
) -> TextsRead | None:
    """Read the texts of a pandas frame, Hugging Face dataset, dict of columns or list of dicts.

    Returns None for anything else. Columns are given or inferred as in `read_texts`.
    """
    table = memory_table(data)
    if table is None:
        return None
    return _texts_of(table, text, label, pair, BadRows(spell=in_python, can_skip=False))


def _texts_of(
    table: Table,
    text: str | None,
    label: str | None,
    pair: str | None,
    bad: BadRows,
    scores: Sequence[str] = (),
    spool: TextSpool | None = None,
) -> TextsRead:
    columns = model_columns(text, pair, label, table.columns, table.where, table.head, bad.spell)
    with counter(f"Reading {table.where}") as advance:
        texts = list(_texts(table, columns, bad, advance, scores, spool))
    if not texts:
        skipped = (
            f" {bad.count:,} rows were skipped, the first: {bad.messages[0]}" if bad.count else ""
        )
        raise InputError(f"{table.where}: there is no text in it.{skipped}")
    classes = table.classes(columns.label) if columns.label else None
    return TextsRead(texts, bad, _summary(table, columns, len(texts), bad), classes)


def _texts(
    table: Table,
    columns: ModelColumns,
    bad: BadRows,
    advance: Any,
    scores: Sequence[str],
    spool: TextSpool | None,
) -> Iterator[OwnText]:
    wanted = list(dict.fromkeys([*columns.named().values(), *scores]))
    for number, (where, row) in enumerate(table.rows(wanted)):
        advance()
        with bad:
            first = text_value(row, columns.text, "text", where, bad)
            second = (
                text_value(row, columns.pair, "second text", where, bad) if columns.pair else None
            )
            value = row.get(columns.label) if columns.label else None
            if columns.label and is_missing(value):
                raise RowError(
                    f"{where}: the label is missing. {bad.advice} "
                    f"To read no labels at all, write {bad.spell('label', '')}.",
                    reason="no label",
                )
            content: Text = first if second is None else (first, second)
            yield OwnText(
                f"row/{number}",
                content if spool is None else spool.keep(content),
                value,
                where,
                tuple(row.get(column) for column in scores),
            )


def _summary(table: Table, columns: ModelColumns, count: int, bad: BadRows) -> str:
    """One line: "Read d.csv: text = review, label = stars, 1,200 rows, encoding utf-8"."""
    parts = [f"{name} = {printable(column[:60])}" for name, column in columns.named().items()]
    if not columns.label:
        used = columns.named().values()
        others = [printable(name[:60]) for name in table.columns if name not in used]
        more = ", …" if len(others) > _LISTED else ""
        listed = f" (not read: {', '.join(others[:_LISTED])}{more})" if others else ""
        parts.append(f"no label column{listed}")
    parts.append(f"{count:,} row{'s' if count != 1 else ''}")
    parts += [f"{name} {value}" for name, value in table.details.items()]
    if bad.count:
        parts.append(f"{bad.count:,} skipped")
    return f"Read {table.where}: {', '.join(parts)}"
