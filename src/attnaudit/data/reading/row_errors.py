"""Rows that cannot be read: each raises an error, or is skipped and counted by reason."""

from __future__ import annotations

from collections import Counter
from types import TracebackType
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.reading.option_names import Spelling, in_choice

SHOWN = 5  # messages of skipped rows that are kept
UNDECODABLE = "not decodable"
MALFORMED = "not a csv row"
UNREADABLE = "not readable"  # for errors without a reason of their own


class RowError(InputError):
    """An error in one row, with the reason under which it is counted if the row is skipped."""

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class BadRows:
    """What to do with rows that cannot be read: raise their error, or skip and count them.

    Use `with bad:` around the reading of one row.

    Parameters
    ----------
    skip : bool
        Skip and count bad rows instead of raising their error.
    spell : Spelling
        Writes an option in messages the way the user types it.
    can_skip : bool
        Whether the user has an option to skip bad rows, which messages then mention.
    """

    def __init__(
        self, *, skip: bool = False, spell: Spelling = in_choice, can_skip: bool = True
    ) -> None:
        self.skip, self.spell, self.can_skip = skip, spell, can_skip
        self.count = 0
        self.messages: list[str] = []
        self.reasons: Counter[str] = Counter()

    @property
    def advice(self) -> str:
        """What to do about one bad row."""
        if not self.can_skip:
            return "Drop the row."
        return f"Drop the row, or leave such rows out with {self.spell('skip_bad', 'true')}."

    def handle(self, error: InputError) -> None:
        """Raise the error of a row, or count it as skipped."""
        if not self.skip:
            raise error
        self.count += 1
        self.reasons[error.reason if isinstance(error, RowError) else UNREADABLE] += 1
        if self.count <= SHOWN:
            self.messages.append(str(error))

    def __enter__(self) -> None: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if not isinstance(error, InputError) or not self.skip:
            return False
        self.handle(error)
        return True

    def note(self) -> dict[str, Any]:
        """How many rows were skipped and why, with the first messages; stored with results."""
        if not self.count:
            return {"rows": 0}
        return {"rows": self.count, "reasons": dict(self.reasons), "first": self.messages}
