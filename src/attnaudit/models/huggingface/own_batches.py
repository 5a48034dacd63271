"""Batches of a user's texts: labels as class names, a sample, and rows that cannot be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from attnaudit.core.contract import Batch
from attnaudit.core.errors import InputError, ItemErrors
from attnaudit.data.audit_texts import OwnText
from attnaudit.data.reading.row_errors import BadRows, RowError
from attnaudit.data.sampling import sampled
from attnaudit.models.huggingface.labels import class_numbers, renamed_labels


def with_class_names(
    texts: Sequence[OwnText], names: Sequence[str], mapping: Mapping[str, str] | None = None
) -> list[OwnText]:
    """Return the texts with their labels as class names of the model.

    Call it before sampling: whether labels are names or numbers depends on the whole column.
    """
    if texts[0].label is None:
        if mapping:
            raise InputError(
                "There are labels to rename, but the data has no label column. Name it with "
                "--label-column."
            )
        return list(texts)
    labels = [text.label for text in texts]
    renamed = renamed_labels(labels, mapping, names) if mapping else labels
    try:
        numbers = class_numbers(renamed, names, 0)
    except ItemErrors as error:
        index, problem = next(iter(error.problems.items()))
        raise InputError(
            f"{texts[index].where}: {problem} To rename the labels of the file, write "
            "--labels theirs=CLASS,others=CLASS."
        ) from error
    return [replace(text, label=names[number]) for text, number in zip(texts, numbers, strict=True)]


def sampled_batches(
    model: Any, texts: Sequence[OwnText], count: int | None, seed: int, bad: BadRows
) -> tuple[list[OwnText], Sequence[OwnText], list[Batch]]:
    """Return the texts that can be read, a sample of them, and its batches.

    Texts of which the tokenizer leaves nothing are bad rows. If bad rows are skipped, the sample
    is drawn as if they were not in the file.
    """
    pool = list(texts)
    while True:
        if not pool:
            raise InputError(f"No text is left of {len(texts):,}: {bad.messages[-1]}")
        chosen = sampled(pool, count, seed)
        labels = None if chosen[0].label is None else [text.label for text in chosen]
        try:
            return pool, chosen, model.batches([text.text for text in chosen], labels)
        except ItemErrors as error:
            for index, problem in error.problems.items():
                where = chosen[index].where
                bad.handle(RowError(f"{where}: {problem} {bad.advice}", reason="no token"))
            skipped = {chosen[index].example_id for index in error.problems}
            pool = [text for text in pool if text.example_id not in skipped]
