"""A corpus in numbers: vocabulary, lengths and class counts, what was dropped, and what its examples know besides the text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnaudit.core import registry
from attnaudit.data import DATASETS, load
from attnaudit.data.corpus_info import about_of
from attnaudit.data.listing import settled
from attnaudit.data.published_counts import PublishedCorpus, published_row
from attnaudit.data.reading.preprocessing import repeated, vocabulary_size
from attnaudit.data.splits import Example, Splits
from attnaudit.data.text_file import file_choice

EXTRAS = {
    "query": "a query",
    "segments": "sentences",
    "evidence": "evidence",
    "candidates": "candidate answers",
}
_TOLD = ("dropped", "skipped", "repeated", "vocabulary", "vocabulary_before_length_filter")


@dataclass(frozen=True)
class SplitCounts:
    examples: int
    classes: dict[str, int]  # in the order of the labels
    unlabelled: int
    mean_length: float | None  # tokens, without the start and end marks; None of an empty split
    longest: int


@dataclass(frozen=True)
class Description:
    choice: str
    title: str
    tokeniser: str
    min_count: int
    vocabulary: int  # words in at least min_count training texts, and the four marks
    vocabulary_before_length_filter: int | None
    splits: dict[str, SplitCounts]
    extras: dict[str, int]  # how many examples have a query, sentences, evidence, candidate answers
    dropped: dict[str, int]
    skipped: dict[str, Any]
    repeated: dict[str, int]
    notes: dict[str, Any]  # whatever else the reader says
    published: PublishedCorpus | None


def describe(choice: str, *, data_dir: Path | None = None) -> Description:
    """Reads the corpus and counts. Beside the published row where there is one for these classes."""
    splits = load(choice, data_dir=data_dir)
    name, options = file_choice(choice, DATASETS) or registry.parse(choice)
    reader = registry.find(DATASETS, name, "dataset")
    about = about_of(reader)
    everything = [example for split in _splits(splits).values() for example in split]
    notes = splits.notes
    return Description(
        choice=choice,
        title=about.title if about else str(notes.get("source") or splits.name),
        tokeniser=splits.tokeniser,
        min_count=splits.min_count,
        vocabulary=vocabulary_size(splits.train, min_count=splits.min_count),
        vocabulary_before_length_filter=notes.get("vocabulary_before_length_filter"),
        splits={
            split: _counts(examples, splits.classes) for split, examples in _splits(splits).items()
        },
        extras={
            extra: sum(getattr(each, extra) is not None for each in everything) for extra in EXTRAS
        },
        dropped=notes.get("dropped", {}),
        skipped=notes.get("skipped", {"rows": 0}),
        repeated=notes["repeated"]
        if "repeated" in notes
        else repeated(splits.train, splits.dev, splits.test),
        notes={key: value for key, value in notes.items() if key not in _TOLD},
        published=published_row(name, settled(reader, options), len(splits.classes)),
    )


def together(one: SplitCounts, other: SplitCounts) -> SplitCounts:
    examples = one.examples + other.examples
    tokens = sum(each.examples * (each.mean_length or 0) for each in (one, other))
    return SplitCounts(
        examples=examples,
        classes={name: count + other.classes[name] for name, count in one.classes.items()},
        unlabelled=one.unlabelled + other.unlabelled,
        mean_length=tokens / examples if examples else None,
        longest=max(one.longest, other.longest),
    )


def _splits(splits: Splits) -> dict[str, Sequence[Example]]:
    return {"train": splits.train, "dev": splits.dev, "test": splits.test}


def _counts(examples: Sequence[Example], classes: tuple[str, ...]) -> SplitCounts:
    labels: Counter[int | None] = Counter()
    total = longest = 0
    for example in examples:
        labels[example.label] += 1
        total += len(example.tokens)
        longest = max(longest, len(example.tokens))
    return SplitCounts(
        examples=len(examples),
        classes={name: labels[label] for label, name in enumerate(classes)},
        unlabelled=labels[None],
        mean_length=total / len(examples) if examples else None,
        longest=longest,
    )
