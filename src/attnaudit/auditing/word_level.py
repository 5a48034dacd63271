"""The words of the sources of kept answers: their texts and scores, for the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.data.citations import CitationBatch

WORD_LEVEL = "word_level"  # the column of examples.parquet


def add_words(
    rows: Sequence[dict[str, Any]],
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
) -> None:
    """Add to each kept row what was found with words as items.

    Parameters
    ----------
    rows : of the examples that are kept whole, of this batch.
    model, record : with words as items.
    scores : of the words, by measure (B,N).
    """
    reader: Any = model
    place = {example_id: index for index, example_id in enumerate(record.batch.example_id)}
    for row in rows:
        index = place[row["example_id"]]
        counted = record.content[index]
        texts = reader.spell(record, index)
        _, weights = reader.answer_attention(record, index)
        row[WORD_LEVEL] = {
            "words": [texts[item] for item in counted.nonzero()[:, 0].tolist()],
            "source": source_of_items(record, index),
            "scores": [
                {"measure": name, "values": score[index, counted].double().tolist()}
                for name, score in scores.items()
                if name != "random"
            ],
            "answer_attention": weights[:, counted].double().flatten().tolist(),
        }


def source_of_items(record: Record, index: int) -> list[int]:
    """The number of the source of each counted item of an example."""
    assert isinstance(record.batch, CitationBatch)
    every = record.batch.source_of_items(index)
    return [every[item] for item in record.content[index].nonzero()[:, 0].tolist()]
