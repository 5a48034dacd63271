"""How many examples of each class a split has, to compare with published counts."""

from __future__ import annotations

from collections import Counter

from attnaudit.data.splits import Splits


def label_counts(splits: Splits) -> list[tuple[int, int]]:
    """(class 0, class 1) of train, dev and test."""
    parts = (splits.train, splits.dev, splits.test)
    counts = [Counter(example.label for example in part) for part in parts]
    return [(count[0], count[1]) for count in counts]
