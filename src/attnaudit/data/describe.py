"""A corpus in numbers: vocabulary, lengths, class counts, dropped examples and annotations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnaudit.core import registry
from attnaudit.data.corpus_info import about_of
from attnaudit.data.datasets import DATASETS, load, parse_choice
from attnaudit.data.listing import with_defaults
from attnaudit.data.published_counts import PublishedCorpus, published_row
from attnaudit.data.reading.preprocessing import repeated, vocabulary_size
from attnaudit.data.splits import SPLITS, Example

EXTRAS = {
    "query": "a query",
    "segments": "sentences",
    "evidence": "evidence",
    "candidates": "candidate answers",
}
# Notes that have a field of their own in a description.
_OWN_FIELDS = ("dropped", "skipped", "repeated", "vocabulary", "vocabulary_before_length_filter")


@dataclass(frozen=True)
class SplitCounts:
    """Counts of one split."""

    examples: int
    classes: dict[str, int]  # in the order of the labels
    unlabelled: int
    mean_length: float | None  # tokens without start and end marks; None for an empty split
    longest: int


@dataclass(frozen=True)
class Description:
    """Counts of a corpus, next to the published ones if there are any."""

    choice: str
    title: str
    tokeniser: str
    min_count: int
    vocabulary: int  # words in at least min_count training texts, plus the four special tokens
    vocabulary_before_length_filter: int | None
    splits: dict[str, SplitCounts]
    extras: dict[str, int]  # examples with a query, sentences, evidence, candidate answers
    dropped: dict[str, int]
    skipped: dict[str, Any]
    repeated: dict[str, int]
    notes: dict[str, Any]  # all other notes of the reader
    published: PublishedCorpus | None


def describe(choice: str, *, data_dir: Path | None = None) -> Description:
    """Read a dataset and count its texts, words and classes.

    Parameters
    ----------
    choice : str
        A dataset choice, as for `load`.
    data_dir : Path, optional
        Folder to look for corpora in, as for `load`.

    Returns
    -------
    Description
        With the published counts if there are any for these classes.

    Examples
    --------
    >>> description = describe("keyword:train=6,dev=2,test=2")
    >>> description.splits["train"].classes
    {'negative': 3, 'positive': 3}
    """
    splits = load(choice, data_dir=data_dir)
    name, options = parse_choice(choice)
    reader = registry.find(DATASETS, name, "dataset")
    about = about_of(reader)
    by_split: dict[str, Sequence[Example]] = {split: getattr(splits, split) for split in SPLITS}
    everything = [example for examples in by_split.values() for example in examples]
    notes = splits.notes
    return Description(
        choice=choice,
        title=about.title if about else str(notes.get("source") or splits.name),
        tokeniser=splits.tokeniser,
        min_count=splits.min_count,
        vocabulary=vocabulary_size(splits.train, min_count=splits.min_count),
        vocabulary_before_length_filter=notes.get("vocabulary_before_length_filter"),
        splits={split: _counts(examples, splits.classes) for split, examples in by_split.items()},
        extras={
            extra: sum(getattr(example, extra) is not None for example in everything)
            for extra in EXTRAS
        },
        dropped=notes.get("dropped", {}),
        skipped=notes.get("skipped", {"rows": 0}),
        repeated=notes["repeated"]
        if "repeated" in notes
        else repeated(splits.train, splits.dev, splits.test),
        notes={key: value for key, value in notes.items() if key not in _OWN_FIELDS},
        published=published_row(name, with_defaults(reader, options), len(splits.classes)),
    )


def together(one: SplitCounts, other: SplitCounts) -> SplitCounts:
    """Counts of two splits taken as one."""
    examples = one.examples + other.examples
    tokens = sum(counts.examples * (counts.mean_length or 0) for counts in (one, other))
    return SplitCounts(
        examples=examples,
        classes={name: count + other.classes[name] for name, count in one.classes.items()},
        unlabelled=one.unlabelled + other.unlabelled,
        mean_length=tokens / examples if examples else None,
        longest=max(one.longest, other.longest),
    )


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
