"""What every reader returns: examples of words, in three splits that share no example."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any

from attnaudit.core.errors import InputError


@dataclass(frozen=True, slots=True)
class Example:
    """One text with what is known of it."""

    example_id: str  # stable over runs and machines, unique within a corpus: "test/17"
    tokens: tuple[str, ...]
    label: int | None = None
    query: tuple[str, ...] | None = None  # the second text: question or hypothesis
    evidence: tuple[bool, ...] | None = None  # True = this token decides
    segments: tuple[int, ...] | None = None  # the sentence of each token
    candidates: tuple[int, ...] | None = None  # classes that are possible answers; None = all


@dataclass(frozen=True)
class Splits:
    """A corpus, read and tokenised."""

    name: str
    train: Sequence[Example]
    dev: Sequence[Example]
    test: Sequence[Example]
    classes: tuple[str, ...]  # names, in the order of the labels
    tokeniser: str  # every count names it
    min_count: int = 1  # documents a word must occur in to be in the vocabulary
    notes: dict[str, Any] = field(
        default_factory=dict
    )  # what the reader dropped or chose, for the results
    checked: InitVar[bool] = False  # True: it was when it was stored

    def __post_init__(self, checked: bool) -> None:
        if checked:
            return
        everything = [*self.train, *self.dev, *self.test]
        twice = [
            name for name, count in Counter(e.example_id for e in everything).items() if count > 1
        ]
        if twice:
            raise InputError(
                f"{self.name}: example ids must be unique, but {twice[:3]} occur more than once."
            )
        for example in everything:
            check_example(example, len(self.classes), self.name)
        if len(self.classes) < 2:
            raise InputError(
                f"{self.name}: a classifier needs at least two classes, got {list(self.classes)}. "
                "Check the label column."
            )
        if self.train and len({example.label for example in self.train}) < 2:
            raise InputError(
                f"{self.name}: all {len(self.train)} training labels are the same, so there is nothing to learn. "
                "Check the label column."
            )


def check_example(example: Example, class_count: int, corpus: str) -> None:
    """Refuse what no model could read, by name, before any long work starts."""
    where = f"{corpus}, example {example.example_id!r}"
    if not example.tokens:
        raise InputError(
            f"{where}: the text is empty. Drop the example or give it at least one word."
        )
    if example.query is not None and not example.query:
        raise InputError(
            f"{where}: the query is empty. Drop the example or give it at least one word."
        )
    if example.label is not None and not 0 <= example.label < class_count:
        raise InputError(f"{where}: label {example.label} is not one of the {class_count} classes.")
    if example.candidates is not None and not all(
        0 <= each < class_count for each in example.candidates
    ):
        raise InputError(f"{where}: a candidate is not one of the {class_count} classes.")
    if (
        example.candidates is not None
        and example.label is not None
        and example.label not in example.candidates
    ):
        raise InputError(f"{where}: the label {example.label} is not among its candidates.")
    for name in ("evidence", "segments"):
        values = getattr(example, name)
        if values is not None and len(values) != len(example.tokens):
            raise InputError(
                f"{where}: {len(values)} {name} values for {len(example.tokens)} tokens."
            )
