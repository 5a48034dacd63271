"""A user's texts as the model sees them: class names, a sample, rows that cannot be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from attnaudit.core.errors import InputError, ItemErrors
from attnaudit.data.audit_texts import OwnText
from attnaudit.data.reading.row_errors import BadRows, RowError
from attnaudit.data.sampling import sampled
from attnaudit.models.huggingface.labels import class_numbers, renamed_labels
from attnaudit.models.huggingface.text_batch import numbered_ids

_AT_ONCE = 1000  # texts that are tokenised at a time


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


class SampledTexts(NamedTuple):
    """The texts of a file that can be read, the sample of them that is audited, and its sizes."""

    pool: list[OwnText]
    chosen: Sequence[OwnText]
    tokens: list[int]  # of each chosen text


def sample_texts(
    model: Any, texts: Sequence[OwnText], count: int | None, seed: int, bad: BadRows
) -> SampledTexts:
    """Draw a sample of the texts that the model can read.

    Texts of which the tokenizer leaves nothing are bad rows. If bad rows are skipped, the sample
    is drawn as if they were not in the file.
    """
    pool = list(texts)
    while True:
        if not pool:
            raise InputError(f"No text is left of {len(texts):,}: {bad.messages[-1]}")
        chosen = sampled(pool, count, seed)
        try:
            return SampledTexts(pool, chosen, token_counts(model, chosen))
        except ItemErrors as error:
            for index, problem in error.problems.items():
                where = chosen[index].where
                bad.handle(RowError(f"{where}: {problem} {bad.advice}", reason="no token"))
            skipped = {chosen[index].example_id for index in error.problems}
            pool = [text for text in pool if text.example_id not in skipped]


def token_counts(model: Any, texts: Sequence[OwnText]) -> list[int]:
    """The number of tokens of each text; one error for all the texts that cannot be read."""
    counts: list[int] = []
    problems: dict[int, str] = {}
    for start in range(0, len(texts), _AT_ONCE):
        part = [row.content() for row in texts[start : start + _AT_ONCE]]
        try:
            batches = model.batches(part, None, numbered_ids(len(part)))
        except ItemErrors as error:
            problems |= {start + index: problem for index, problem in error.problems.items()}
            continue
        sizes = {
            name: size
            for batch in batches
            for name, size in zip(batch.example_id, batch.mask.sum(-1).tolist(), strict=True)
        }
        counts += [sizes[name] for name in sorted(sizes)]
    if problems:
        raise ItemErrors(problems)
    return counts
