"""Examples that a simulator makes when they are asked for, so that millions need no memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import overload

from attnaudit.data.splits import Example


class GeneratedExamples(Sequence[Example]):
    """A sequence whose examples are made on access.

    Parameters
    ----------
    count : how many.
    make : number from 0 -> the example, always the same for the same number.

    Examples
    --------
    >>> examples = GeneratedExamples(10**6, lambda number: Example(f"test/{number}", ("word",)))
    >>> len(examples), examples[-1].example_id
    (1000000, 'test/999999')
    """

    def __init__(self, count: int, make: Callable[[int], Example]) -> None:
        self._count, self._make = count, make

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Example]: ...
    def __getitem__(self, index: int | slice) -> Example | Sequence[Example]:
        numbers = range(self._count)[index]
        return self._make(numbers) if isinstance(numbers, int) else tuple(map(self._make, numbers))

    def __iter__(self) -> Iterator[Example]:
        return map(self._make, range(self._count))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Sequence)
            and len(self) == len(other)
            and all(mine == theirs for mine, theirs in zip(self, other, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]
