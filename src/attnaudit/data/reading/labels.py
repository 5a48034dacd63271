"""Classes from the labels of a table: words, or whole numbers in their order."""

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
    """None, not-a-number, what pandas has for either, and a blank string."""
    return (
        value is None
        or (isinstance(value, str) and not value.strip())
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float) and value != value)
    )


class Labels:
    """Numbers labels as they come, and puts the classes in order at the end. `names` are those a corpus brings along."""

    def __init__(self, names: Sequence[str] | None = None) -> None:
        self.names = names
        self.met: dict[str, int] = {}
        self.refused: InputError | None = None  # what no skipping of rows would mend

    def number(self, value: Any, where: str) -> int:
        if is_missing(value):
            raise RowError(
                f"{where}: the label is missing. Drop the row, or leave such rows out with skip_bad=true.",
                reason="no label",
            )
        name = self._name(value, where)
        if name not in self.met and len(self.met) == MOST:
            self.refused = InputError(
                f"{where}: more than {MOST} different labels ({', '.join(name[:20] for name in list(self.met)[:5])}, …). "
                "This looks like a number to predict or a text, not a class: check the label column."
            )
        return self.met.setdefault(name, len(self.met))

    def _name(self, value: Any, where: str) -> str:
        if self.names is not None:
            if not isinstance(value, Integral) or not 0 <= int(value) < len(self.names):
                raise InputError(
                    f"{where}: the label {value!r} is none of the {len(self.names)} classes, numbered from 0."
                )
            return self.names[int(value)]
        if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
            return str(bool(value)).lower()
        if isinstance(value, Integral):
            return str(int(value))
        if isinstance(value, Real) or (isinstance(value, str) and _NUMBER.fullmatch(value.strip())):
            if float(value).is_integer():
                return str(int(float(value)))
            self.refused = InputError(
                f"{where}: the label {value!r} is a number with a fraction: this looks like regression, and only classes can be "
                "audited. Make classes of it (words, or whole numbers), or check the label column."
            )
        elif not isinstance(value, str):
            raise InputError(
                f"{where}: the label must be a word or a whole number, got {type(value).__name__}."
            )
        return str(value).strip()

    def classes(self) -> tuple[str, ...]:
        """Those a corpus brings along in its order, numbers by value, words by the alphabet."""
        if self.names is not None:
            return tuple(self.names)
        if all(re.fullmatch(r"-?\d+", name) for name in self.met):
            return tuple(sorted(self.met, key=int))
        return tuple(sorted(self.met))

    def in_order(self, examples: Sequence[Example]) -> tuple[Example, ...]:
        """Examples numbered as they came, renumbered to the order of the classes."""
        place = {name: at for at, name in enumerate(self.classes())}
        now = [place[name] for name in self.met]
        return tuple(
            replace(example, label=now[example.label])
            for example in examples
            if example.label is not None
        )
