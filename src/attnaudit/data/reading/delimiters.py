"""What separates the columns of a csv file: by its header line and the consistency of the rows below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.reading.option_names import Spelling

CANDIDATES = (",", ";", "\t", "|")
CONSISTENT = 0.8  # share of rows with as many fields as the header
_NAMES = {"\t": "tab"}
_SPELLED = {"tab": "\t", "\\t": "\t"}


@dataclass(frozen=True)
class Shape:
    """The first rows of a file, separated in one way."""

    header: list[str]
    consistent: float  # share of the rows with as many fields as the header; 1 without rows

    @property
    def splits_header(self) -> bool:
        return len(self.header) > 1 and all(name.strip() for name in self.header)


def delimiter_name(delimiter: str) -> str:
    return _NAMES.get(delimiter, delimiter)


def checked_delimiter(value: Any, spell: Spelling) -> str | None:
    """One character; "tab" and "\\t" stand for a tab."""
    if value is None:
        return None
    character = _SPELLED.get(value, value) if isinstance(value, str) else value
    if not isinstance(character, str) or len(character) != 1 or character in '"\r\n\0':
        raise InputError(
            f"delimiter must be one character, got {value!r}. Write for example {spell('delimiter', ';')} "
            f"or {spell('delimiter', 'tab')}."
        )
    return character


def find_delimiter(shape: Callable[[str], Shape], where: str, spell: Spelling) -> str:
    """The one candidate that splits the header and fits the rows; a comma where nothing splits the header."""
    shapes = {each: shape(each) for each in CANDIDATES}
    splitting = [each for each, found in shapes.items() if found.splits_header]
    if splitting in ([], [","]):
        return ","
    fitting = [each for each in splitting if shapes[each].consistent >= CONSISTENT]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting and "," not in splitting:
        return ","  # one column whose name holds another mark
    listed = ", ".join(repr(delimiter_name(each)) for each in fitting or splitting)
    raise InputError(
        f"{where}: the columns could be separated by any of {listed}. Name the one with "
        f"{spell('delimiter', (fitting or splitting)[0])}."
    )
