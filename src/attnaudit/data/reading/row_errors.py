"""Rows that cannot be read: each is an error with its place, or is left out and counted by reason."""

from __future__ import annotations

from collections import Counter
from types import TracebackType
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.reading.option_names import Spelling, in_choice

SHOWN = 5  # messages kept of skipped rows
UNDECODABLE = "not decodable"
MALFORMED = "not a csv row"
UNREADABLE = "not readable"  # the reason of an error that names no other


class RowError(InputError):
    """An error of one row, with the reason under which it is counted when it is skipped."""

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class BadRows:
    """What becomes of a row that cannot be read: its error is raised, or, with skip, it is left out and counted.

    `with bad:` around the reading of one row. `spell` writes options in messages as the user types them.
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

    def met(self, error: InputError) -> None:
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
        self.met(error)
        return True

    def note(self) -> dict[str, Any]:
        if not self.count:
            return {"rows": 0}
        return {"rows": self.count, "reasons": dict(self.reasons), "first": self.messages}
