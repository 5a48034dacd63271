"""Checks of a dataset's options, so that a typing mistake is reported before any reading starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnaudit.core.errors import InputError


def whole_number(dataset: str, name: str, value: Any, *, least: int) -> None:
    """Reject anything but a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(
            f"{dataset}: {name} must be a whole number of at least {least}, got {value!r}. "
            f"Write for example {dataset}:{name}={max(least, 1)}."
        )


def yes_or_no(dataset: str, name: str, value: Any) -> None:
    """Reject anything but true or false: the text "False" would count as true."""
    if not isinstance(value, bool):
        raise InputError(
            f"{dataset}: {name} must be true or false, got {value!r}. "
            f"Write for example {dataset}:{name}=true."
        )


def one_of(dataset: str, name: str, value: Any, known: Sequence[str]) -> None:
    """Reject anything but one of the names."""
    if value not in known:
        raise InputError(f"{dataset}: {name} must be one of {', '.join(known)}, got {value!r}.")
