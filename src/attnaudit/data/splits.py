"""What every reader returns: tokenised examples in three splits that share no example."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any

from attnaudit.core.errors import InputError

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True, slots=True)
class Example:
    """One tokenised text with its label and annotations.

    Parameters
    ----------
    example_id : str
        Unique within a corpus and the same on every machine: "test/17".
    tokens : tuple of str
        The words of the text.
    label : int, optional
        The class, as an index into `Splits.classes`.
    query : tuple of str, optional
        The words of a second text: a question or hypothesis.
    evidence : tuple of bool, optional
        Per token, whether it decides the label.
    segments : tuple of int, optional
        Per token, the number of its sentence.
    candidates : tuple of int, optional
        The classes that are possible answers; all of them if omitted.

    Examples
    --------
    >>> Example("test/0", ("so", "dull"), label=0, evidence=(False, True)).tokens
    ('so', 'dull')
    """

    example_id: str
    tokens: tuple[str, ...]
    label: int | None = None
    query: tuple[str, ...] | None = None
    evidence: tuple[bool, ...] | None = None
    segments: tuple[int, ...] | None = None
    candidates: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Splits:
    """A tokenised corpus in three splits.

    Parameters
    ----------
    name : str
        Name of the corpus.
    train, dev, test : sequence of Example
        The splits; dev and test may be empty.
    classes : tuple of str
        Names of the classes, in the order of the labels.
    tokeniser : str
        Name of the tokeniser, on which every count depends.
    min_count : int
        Number of training texts a word must occur in to be in the vocabulary.
    notes : dict
        What the reader dropped or chose; stored with results.
    checked : bool
        Skip the checks, for examples that were checked before they were stored.

    Examples
    --------
    >>> train = [Example("train/0", ("dull",), label=0), Example("train/1", ("great",), label=1)]
    >>> Splits("mine", train, (), (), ("bad", "good"), tokeniser="blanks").classes
    ('bad', 'good')
    """

    name: str
    train: Sequence[Example]
    dev: Sequence[Example]
    test: Sequence[Example]
    classes: tuple[str, ...]
    tokeniser: str
    min_count: int = 1
    notes: dict[str, Any] = field(default_factory=dict)
    checked: InitVar[bool] = False

    def __post_init__(self, checked: bool) -> None:
        if checked:
            return
        everything = [*self.train, *self.dev, *self.test]
        counts = Counter(example.example_id for example in everything)
        duplicates = [example_id for example_id, count in counts.items() if count > 1]
        if duplicates:
            raise InputError(
                f"{self.name}: example ids must be unique, "
                f"but {duplicates[:3]} occur more than once."
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
                f"{self.name}: all {len(self.train)} training labels are the same, so there is "
                "nothing to learn. Check the label column."
            )


def check_example(example: Example, class_count: int, corpus: str) -> None:
    """Reject an example that no model could read, before any long computation starts."""
    where = f"{corpus}, example {example.example_id!r}"
    label, candidates = example.label, example.candidates
    if not example.tokens:
        raise InputError(
            f"{where}: the text is empty. Drop the example or give it at least one word."
        )
    if example.query is not None and not example.query:
        raise InputError(
            f"{where}: the query is empty. Drop the example or give it at least one word."
        )
    if label is not None and not 0 <= label < class_count:
        raise InputError(f"{where}: label {label} is not one of the {class_count} classes.")
    if candidates is not None and not all(0 <= index < class_count for index in candidates):
        raise InputError(f"{where}: a candidate is not one of the {class_count} classes.")
    if candidates is not None and label is not None and label not in candidates:
        raise InputError(f"{where}: the label {label} is not among its candidates.")
    for name in ("evidence", "segments"):
        values = getattr(example, name)
        if values is not None and len(values) != len(example.tokens):
            raise InputError(
                f"{where}: {len(values)} {name} values for {len(example.tokens)} tokens."
            )
