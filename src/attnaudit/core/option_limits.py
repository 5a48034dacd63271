"""The values an option may take: declared next to the part, checked when it is chosen or called."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

from attnaudit.core.errors import InputError

Part = TypeVar("Part", bound=Callable[..., Any])


class Limit(Protocol):
    """`check` raises an InputError that begins with the option's name, or returns."""

    def check(self, name: str, value: Any) -> None: ...


@dataclass(frozen=True)
class Number:
    """A finite number within bounds; `whole`: an integer; `or_word`: this word is allowed too.

    Examples
    --------
    >>> print(Number(above=1, most=2, or_word="learned"))
    above 1 and at most 2, or learned
    """

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None
    whole: bool = False
    or_word: str | None = None

    def check(self, name: str, value: Any) -> None:
        if isinstance(value, str) and value == self.or_word:
            return
        if isinstance(value, bool) or not isinstance(value, int | float) or not self._holds(value):
            raise InputError(f"{name} must be {self}, got {value!r}.")
        if self.whole and value != int(value):
            raise InputError(f"{name} must be a whole number, got {value!r}.")

    def _holds(self, value: float) -> bool:
        return (
            math.isfinite(value)
            and (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or value <= self.most)
            and (self.below is None or value < self.below)
        )

    def __str__(self) -> str:
        parts = [f"{self.least:g} or more"] if self.least is not None else []
        bounds = {"above": self.above, "at most": self.most, "below": self.below}
        parts += [f"{words} {bound:g}" for words, bound in bounds.items() if bound is not None]
        text = " and ".join(parts) or "a finite number"
        return f"{text}, or {self.or_word}" if self.or_word else text


@dataclass(frozen=True)
class OneOf:
    """One of these values."""

    values: tuple[Any, ...]

    def check(self, name: str, value: Any) -> None:
        if isinstance(value, bool) or value not in self.values:
            raise InputError(f"{name} must be {self}, got {value!r}.")

    def __str__(self) -> str:
        *others, last = map(str, self.values)
        return f"{', '.join(others)} or {last}" if others else last


@dataclass(frozen=True)
class Joined:
    """Numbers joined by +, such as 0.001+0.01, each within the limit; `or_none`: "" for none."""

    limit: Number
    or_none: bool = False

    def check(self, name: str, value: Any) -> None:
        if self.or_none and value == "":
            return
        try:
            numbers = [float(part) for part in str(value).split("+")]
        except ValueError as error:
            raise InputError(
                f"{name} must be numbers joined by +, such as 0.5+1; got {value!r}."
            ) from error
        for number in numbers:
            self.limit.check(f"{name}: every number", number)


@dataclass(frozen=True)
class ParsedBy:
    """Any value that this function accepts; it raises its own InputError."""

    parse: Callable[[Any], Any]

    def check(self, name: str, value: Any) -> None:
        self.parse(value)


@dataclass(frozen=True)
class Fidelity:
    """The version of a published method: as printed, as released, or corrected."""

    part: str  # what it is a version of, for the error message
    versions: tuple[str, ...]

    def check(self, name: str, value: Any) -> None:
        if value not in self.versions:
            raise InputError(
                f"There is no fidelity {value!r} of {self.part}; "
                f"choose from: {', '.join(self.versions)}."
            )


COUNT = Number(least=1, whole=True)
NOT_NEGATIVE = Number(least=0)


def limits(**declared: Limit) -> Callable[[Part], Part]:
    """Declare the limits of a function's or class's options; None is always allowed.

    Examples
    --------
    >>> @limits(shuffles=COUNT)
    ... def permutation(*, shuffles: int = 100): ...
    >>> permutation(shuffles=0)
    Traceback (most recent call last):
    attnaudit.core.errors.InputError: shuffles must be 1 or more, got 0.
    """

    def mark(part: Part) -> Part:
        call: Any = part.__init__ if inspect.isclass(part) else part

        @functools.wraps(call)
        def checked(*arguments: Any, **options: Any) -> Any:
            check(declared, options)
            return call(*arguments, **options)

        if inspect.isclass(part):
            part.__init__ = checked  # type: ignore[method-assign]
            part.limits = {**getattr(part, "limits", {}), **declared}  # type: ignore[attr-defined]
            return part
        checked.limits = declared  # type: ignore[attr-defined]
        return checked  # type: ignore[return-value]

    return mark


def limits_of(part: Callable[..., Any]) -> Mapping[str, Limit]:
    """The declared limits of a part, also if some of its options are bound."""
    while isinstance(part, partial):
        part = part.func
    return getattr(part, "limits", {})


def check(declared: Mapping[str, Limit], values: Mapping[str, Any], *, called: str = "{}") -> None:
    """Reject the first value outside its limit; errors name the option by `called`."""
    for name, limit in declared.items():
        if values.get(name) is not None:
            limit.check(called.format(name), values[name])
