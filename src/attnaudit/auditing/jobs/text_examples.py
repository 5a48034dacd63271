"""The user's texts as examples of a job, for a model that has its own tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from attnaudit.auditing.jobs.example_files import RowFormat
from attnaudit.core.contract import Batch
from attnaudit.data.audit_texts import OwnText
from attnaudit.models.huggingface.text_batch import numbered_ids

TOKENS_PER_SHARD = 2**12  # of a transformer: about a minute of work


class TextExample(NamedTuple):
    """One text or pair of texts, with its class number if it has a label."""

    example_id: str
    text: str | tuple[str, str]
    label: int | None
    tokens: int


class OwnExamples(Sequence[TextExample]):
    """The user's texts as examples, each made when it is asked for: texts need not be in memory.

    Parameters
    ----------
    texts : with labels that are names of classes, or None.
    tokens : the number of tokens of each.
    names : of the classes.
    """

    def __init__(
        self, texts: Sequence[OwnText], tokens: Sequence[int], names: Sequence[str]
    ) -> None:
        self._texts, self._tokens = texts, tokens
        self._ids = numbered_ids(len(texts))
        self._number = {name: index for index, name in enumerate(names)}

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        text = self._texts[index]
        label = None if text.label is None else self._number[text.label]
        return TextExample(self._ids[index], text.content(), label, self._tokens[index])


def _to_columns(example: TextExample) -> dict[str, Any]:
    first, second = (
        (example.text, None)
        if isinstance(example.text, str)
        else (example.text[0], example.text[1])
    )
    return {
        "example_id": example.example_id,
        "label": example.label,
        "first": first,
        "second": second,
        "tokens": example.tokens,
    }


def _from_columns(columns: dict[str, Any]) -> TextExample:
    first, second = columns["first"], columns["second"]
    return TextExample(
        columns["example_id"],
        first if second is None else (first, second),
        columns["label"],
        columns["tokens"],
    )


TEXTS: RowFormat[TextExample] = RowFormat(
    pa.schema(
        [
            ("example_id", pa.string()),
            ("label", pa.int64()),
            ("first", pa.string()),
            ("second", pa.string()),
            ("tokens", pa.int64()),
        ]
    ),
    _to_columns,
    _from_columns,
    lambda example: example.tokens,
)


def batches_by(model: Any) -> Callable[[Sequence[TextExample]], list[Batch]]:
    """How a model makes batches of such examples."""

    def to_batches(examples: Sequence[TextExample]) -> list[Batch]:
        numbers = [example.label for example in examples]
        # By name: a class that is called "1" is not class number 1.
        labels = [model.class_names[number] for number in numbers if number is not None]
        return model.batches(
            [example.text for example in examples],
            labels or None,
            ids=[example.example_id for example in examples],
        )

    return to_batches
