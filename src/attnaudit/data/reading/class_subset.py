"""An option that names some of the classes of a corpus, joined by "+": a comma would begin the next option."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnaudit.core.errors import InputError


def several(dataset: str, option: str, value: Any, known: Sequence[str]) -> tuple[int, ...]:
    """Places in `known` of the names in "one+another", at least two, in this order; "all" is all of them.

    Case does not matter. A name may be shortened to whole parts of it ("hockey" for "rec.sport.hockey") if only one fits.
    """
    example = f"Write for example {dataset}:{option}={known[0]}+{known[1]}, or {option}=all."
    if not isinstance(value, str):
        raise InputError(
            f"{dataset}: {option} must be names with + between them, or all, got {value!r}. {example}"
        )
    if value.strip().lower() == "all":
        return tuple(range(len(known)))
    chosen = tuple(_place(dataset, option, name.strip(), known) for name in value.split("+"))
    if len(chosen) < 2 or len(set(chosen)) < len(chosen):
        raise InputError(
            f"{dataset}: {option} needs two different names or more, got {value!r}. {example}"
        )
    return chosen


def _place(dataset: str, option: str, name: str, known: Sequence[str]) -> int:
    fits = [place for place, each in enumerate(known) if each.lower() == name.lower()] or [
        place for place, each in enumerate(known) if name and _parts(name) in _parts(each)
    ]
    if len(fits) != 1:
        found = f"fits {', '.join(known[place] for place in fits)}" if fits else "is none of them"
        raise InputError(
            f"{dataset}: {option} has {name!r}, which {found}. Choose from: {', '.join(known)}."
        )
    return fits[0]


def _parts(name: str) -> str:
    return f".{name.lower().replace('/', '.')}."
