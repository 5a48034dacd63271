"""Questions with sources as examples of a job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from attnaudit.auditing.jobs.example_files import RowFormat
from attnaudit.core.contract import Batch
from attnaudit.data.citations import CitationExample

TOKENS_PER_SHARD = 2**9  # a few answers: each takes dozens of passes


class SizedQuestion(NamedTuple):
    """A question with its answer, and the number of tokens of its prompt."""

    example: CitationExample
    tokens: int


def sized_questions(model: Any, examples: Iterable[CitationExample]) -> list[SizedQuestion]:
    """The examples, with the sizes of their prompts; rejects those that the model cannot read."""
    return [
        SizedQuestion(example, sum(int(batch.mask.sum()) for batch in model.batches([example])))
        for example in examples
    ]


def batches_by(model: Any) -> Callable[[Sequence[SizedQuestion]], list[Batch]]:
    """One batch per question, in their order: its sets of sources are run together."""

    def to_batches(questions: Sequence[SizedQuestion]) -> list[Batch]:
        return [batch for each in questions for batch in model.batches([each.example])]

    return to_batches


def _to_columns(question: SizedQuestion) -> dict[str, Any]:
    example = question.example
    return {
        "example_id": example.example_id,
        "label": None,
        "sources": list(example.sources),
        "question": example.question,
        "answer": example.answer,
        "gold": None if example.gold is None else list(example.gold),
        "span": example.span,
        "where": example.where,
        "tokens": question.tokens,
    }


def _from_columns(columns: dict[str, Any]) -> SizedQuestion:
    gold = columns["gold"]
    example = CitationExample(
        columns["example_id"],
        tuple(columns["sources"]),
        columns["question"],
        columns["answer"],
        None if gold is None else tuple(gold),
        columns["span"],
        columns["where"],
    )
    return SizedQuestion(example, columns["tokens"])


QUESTIONS: RowFormat[SizedQuestion] = RowFormat(
    pa.schema(
        [
            ("example_id", pa.string()),
            ("label", pa.int64()),
            ("sources", pa.list_(pa.string())),
            ("question", pa.string()),
            ("answer", pa.string()),
            ("gold", pa.list_(pa.int64())),
            ("span", pa.string()),
            ("where", pa.string()),
            ("tokens", pa.int64()),
        ]
    ),
    _to_columns,
    _from_columns,
    lambda question: question.tokens,
)
