"""An option that names some classes of a corpus, joined by "+", as commas separate options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnaudit.core.errors import InputError


def class_indices(dataset: str, option: str, value: Any, known: Sequence[str]) -> tuple[int, ...]:
    """Indices in `known` of the classes in "one+another", in this order; "all" is all of them.

    Case does not matter. A name may be shortened to whole parts of it ("hockey" for
    "rec.sport.hockey") if only one class matches.
    """
    example = f"Write for example {dataset}:{option}={known[0]}+{known[1]}, or {option}=all."
    if not isinstance(value, str):
        raise InputError(
            f"{dataset}: {option} must be names joined by +, or all, got {value!r}. {example}"
        )
    if value.strip().lower() == "all":
        return tuple(range(len(known)))
    chosen = tuple(_class_index(dataset, option, name.strip(), known) for name in value.split("+"))
    if len(chosen) < 2 or len(set(chosen)) < len(chosen):
        raise InputError(
            f"{dataset}: {option} needs at least two different names, got {value!r}. {example}"
        )
    return chosen


def _class_index(dataset: str, option: str, name: str, known: Sequence[str]) -> int:
    indices = [i for i, full in enumerate(known) if full.lower() == name.lower()] or [
        i for i, full in enumerate(known) if name and _parts(name) in _parts(full)
    ]
    if len(indices) != 1:
        matches = ", ".join(known[i] for i in indices)
        problem = f"matches {matches}" if indices else "is none of them"
        raise InputError(
            f"{dataset}: {option} has {name!r}, which {problem}. Choose from: {', '.join(known)}."
        )
    return indices[0]


def _parts(name: str) -> str:
    return f".{name.lower().replace('/', '.')}."
