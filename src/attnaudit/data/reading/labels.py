"""Classes from the labels of a table: words or whole numbers, in order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.reading.row_errors import RowError
from attnaudit.data.splits import Example

MOST = 50  # classes
_NUMBER = re.compile(r"[+-]?\d{1,18}(\.\d{1,18})?([eE][+-]?\d{1,2})?")


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, one of pandas' missing values, or a blank string."""
    return (
        value is None
        or (isinstance(value, str) and not value.strip())
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float) and value != value)
    )


class Labels:
    """Numbers labels in the order of reading, and sorts the classes at the end.

    `names` are the class names of data that has its own, such as a ClassLabel column.
    """

    def __init__(self, names: Sequence[str] | None = None) -> None:
        self.names = names
        self.seen: dict[str, int] = {}  # name -> number, in the order of reading
        self.fatal: InputError | None = None  # a problem that skipping rows would not solve

    def number(self, value: Any, where: str) -> int:
        """The number of a label, in the order of reading."""
        if is_missing(value):
            raise RowError(
                f"{where}: the label is missing. "
                "Drop the row, or leave such rows out with skip_bad=true.",
                reason="no label",
            )
        name = self._name(value, where)
        if name not in self.seen and len(self.seen) == MOST:
            first = ", ".join(name[:20] for name in list(self.seen)[:5])
            self.fatal = InputError(
                f"{where}: more than {MOST} different labels ({first}, …). This looks like a "
                "number to predict or a text, not a class: check the label column."
            )
        return self.seen.setdefault(name, len(self.seen))

    def _name(self, value: Any, where: str) -> str:
        if self.names is not None:
            if not isinstance(value, Integral) or not 0 <= int(value) < len(self.names):
                raise InputError(
                    f"{where}: the label {value!r} is none of the {len(self.names)} classes, "
                    "numbered from 0."
                )
            return self.names[int(value)]
        if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
            return str(bool(value)).lower()
        if isinstance(value, Integral):
            return str(int(value))
        if isinstance(value, Real) or (isinstance(value, str) and _NUMBER.fullmatch(value.strip())):
            if float(value).is_integer():
                return str(int(float(value)))
            self.fatal = InputError(
                f"{where}: the label {value!r} is a number with a fraction: this looks like "
                "regression, and only classes can be audited. Turn it into classes (words, or "
                "whole numbers), or check the label column."
            )
        elif not isinstance(value, str):
            raise InputError(
                f"{where}: the label must be a word or a whole number, got {type(value).__name__}."
            )
        return str(value).strip()

    def classes(self) -> tuple[str, ...]:
        """The data's own class names if it has any; else numbers by value, words by alphabet."""
        if self.names is not None:
            return tuple(self.names)
        if all(re.fullmatch(r"-?\d+", name) for name in self.seen):
            return tuple(sorted(self.seen, key=int))
        return tuple(sorted(self.seen))

    def in_order(self, examples: Sequence[Example]) -> tuple[Example, ...]:
        """The labelled examples, renumbered from the order of reading to that of the classes."""
        index = {name: number for number, name in enumerate(self.classes())}
        new_labels = [index[name] for name in self.seen]
        return tuple(
            replace(example, label=new_labels[example.label])
            for example in examples
            if example.label is not None
        )
