"""The delimiter of a csv file, inferred from its header and the consistency of its rows."""

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
    """The first rows of a file, split by one delimiter."""

    header: list[str]
    consistent: float  # share of rows with as many fields as the header; 1 if there are none

    @property
    def splits_header(self) -> bool:
        """Whether the header has several columns, all with a name."""
        return len(self.header) > 1 and all(name.strip() for name in self.header)


def delimiter_name(delimiter: str) -> str:
    """The delimiter as shown to the user: "tab" for a tab."""
    return _NAMES.get(delimiter, delimiter)


def checked_delimiter(value: Any, spell: Spelling) -> str | None:
    """The delimiter given by the user as one character; "tab" and "\\t" stand for a tab."""
    if value is None:
        return None
    character = _SPELLED.get(value, value) if isinstance(value, str) else value
    if not isinstance(character, str) or len(character) != 1 or character in '"\r\n\0':
        raise InputError(
            f"delimiter must be one character, got {value!r}. "
            f"Write for example {spell('delimiter', ';')} or {spell('delimiter', 'tab')}."
        )
    return character


def find_delimiter(shape: Callable[[str], Shape], where: str, spell: Spelling) -> str:
    """The one delimiter that splits the header and fits the rows; a comma if none does.

    `shape` splits the first rows by a delimiter.
    """
    shapes = {delimiter: shape(delimiter) for delimiter in CANDIDATES}
    splitting = [delimiter for delimiter in CANDIDATES if shapes[delimiter].splits_header]
    if splitting in ([], [","]):
        return ","
    consistent = [
        delimiter for delimiter in splitting if shapes[delimiter].consistent >= CONSISTENT
    ]
    if len(consistent) == 1:
        return consistent[0]
    if not consistent and "," not in splitting:
        return ","  # one column whose name has another delimiter in it
    possible = consistent or splitting
    raise InputError(
        f"{where}: the columns could be separated by any of "
        f"{', '.join(repr(delimiter_name(each)) for each in possible)}. "
        f"Name the one with {spell('delimiter', possible[0])}."
    )
