"""What `audit()` accepts as data: batches, texts, pairs of texts, a table or the path of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from attnaudit.core.contract import AttentionModel, Batch
from attnaudit.core.errors import InputError, ItemErrors
from attnaudit.data.audit_texts import TextsRead, read_texts, texts_in_memory
from attnaudit.data.reading.memory_tables import is_table
from attnaudit.data.reading.option_names import in_python


class AuditData(NamedTuple):
    """The data of an audit.

    Attributes
    ----------
    batches : non-empty.
    ids : of the examples, in the order of the data; batches may have another order.
    texts : in the same order; None for each example that was given as a batch.
    """

    batches: list[Batch]
    ids: list[str]
    texts: list[Any]


def as_batches(
    model: AttentionModel,
    data: Any,
    labels: Sequence[Any] | None,
    *,
    text: str | None,
    label: str | None,
    pair: str | None,
) -> AuditData:
    """The data as batches; texts and tables are batched by the model's own `batches`.

    Parameters are those of `attnaudit.audit`.
    """
    columns = {"text": text, "label": label, "pair": pair}
    batches, texts = _read_batches(model, data, labels, columns)
    batches = [batch for batch in batches if len(batch)]
    if not batches:
        raise InputError("There is nothing to audit: the data holds no example.")
    ids = [example_id for batch in batches for example_id in batch.example_id]
    if len(set(ids)) < len(ids):
        raise InputError(
            "Every example needs its own example_id: random draws and results are keyed by it."
        )
    # Texts are numbered in their order.
    return (
        AuditData(batches, ids, [None] * len(ids))
        if texts is None
        else AuditData(batches, sorted(ids), list(texts))
    )


def _read_batches(
    model: AttentionModel,
    data: Any,
    labels: Sequence[Any] | None,
    columns: Mapping[str, str | None],
) -> tuple[list[Batch], Sequence[Any] | None]:
    """The batches, and the texts that they were made of, if they were."""
    data = _as_list(data)
    if isinstance(data, list) and all(isinstance(batch, Batch) for batch in data):
        _check_no_columns(columns)
        if labels is not None:
            raise InputError("labels go with texts. Batches hold their own: Batch(labels=…).")
        return data, None
    make_batches = getattr(model, "batches", None)
    if make_batches is None:
        first = data[0] if isinstance(data, list) else data
        raise InputError(
            f"This model reads batches, not texts; got {type(first).__name__}. Give it "
            "attnaudit.Batch(names, tokens, mask=…, labels=…), or a list of them. "
            "Texts go with from_huggingface."
        )
    table = _read_table(data, columns)
    if table is None:
        _check_no_columns(columns)
        return make_batches(data, None if labels is None else list(labels)), data
    if labels is not None and columns["label"] is None and table.labelled:
        raise InputError(
            "Labels were given twice: as labels= and as a column of the data. "
            "Leave labels= out, or write label=''."
        )
    if labels is not None and columns["label"]:
        raise InputError("Labels were given twice: as labels= and as label=. Leave one out.")
    known = table.labels(getattr(model, "class_names", None)) if labels is None else list(labels)
    try:
        texts = [each.text for each in table.texts]
        return make_batches(texts, known), texts
    except ItemErrors as error:
        index, problem = next(iter(error.problems.items()))
        raise InputError(f"{table.texts[index].where}: {problem}") from error


def _as_list(data: Any) -> Any:
    """A list of batches or texts; tables, paths and single texts unchanged."""
    if isinstance(data, Batch):
        return [data]
    if isinstance(data, (str, Path, Mapping)) or is_table(data):
        return data
    try:
        return list(data)
    except TypeError:
        raise InputError(
            f"Expected batches, texts or a table with a column of texts, got {type(data).__name__}."
        ) from None


def _read_table(data: Any, columns: Mapping[str, str | None]) -> TextsRead | None:
    text, label, pair = columns["text"], columns["label"], columns["pair"]
    if isinstance(data, Path):
        return read_texts(data, text=text, label=label, pair=pair, spell=in_python)
    return texts_in_memory(data, text=text, label=label, pair=pair)


def _check_no_columns(columns: Mapping[str, str | None]) -> None:
    for name, value in columns.items():
        if value is not None:
            raise InputError(
                f"{name}={value!r} names a column, but the data has none. "
                "It goes with a DataFrame, a Dataset or a file."
            )
