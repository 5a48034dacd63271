"""Labels of a user's texts as numbers of the model's classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attnaudit.core.errors import InputError, ItemErrors


def class_names(config: Any) -> tuple[str, ...]:
    """The names in a config's label map, by class number; rejected unless each class has a name of its own."""
    names = {number: config.id2label[number] for number in sorted(config.id2label)}
    if list(names) != list(range(len(names))):
        raise InputError(
            f"The config's id2label must number the classes 0 to {len(names) - 1} without gaps, got {list(names)[:8]}."
        )
    for number, name in names.items():
        if not isinstance(name, (str, int, float)) or not str(name).strip():
            raise InputError(
                f"The config's id2label calls class {number} {name!r}; expected a name."
            )
    listed = tuple(str(name).strip() for name in names.values())
    if len(set(listed)) < len(listed):
        twice = next(name for at, name in enumerate(listed) if name in listed[:at])
        raise InputError(
            f"The config's id2label calls two classes {twice!r}. Give every class a name of its own in config.json, or set "
            "model.config.id2label."
        )
    return listed


def class_numbers(labels: Sequence[Any], names: Sequence[str] | None, tokens: int) -> list[int]:
    """All are names of classes, in any case, or all are numbers from 0: one reading for the whole column, so that classes called "1" to "5"
    and labels 0 to 4 are not mixed up. Without names (the next word of a language model) they are numbers of tokens."""
    exact = {str(name).strip(): number for number, name in enumerate(names or ())}
    folded = [name.casefold() for name in exact]
    # Classes that differ in case only are known by their exact names.
    known = {
        name.casefold(): number
        for name, number in exact.items()
        if folded.count(name.casefold()) == 1
    }
    spelled = [str(label).strip() for label in labels]
    named = [exact.get(label, known.get(label.casefold())) for label in spelled]
    count = len(names) if names else tokens
    numbers = [_whole(label) for label in labels]
    # One label that can only be a name makes it a column of names.
    if all(each is not None for each in named) or any(
        name is not None and number is None for name, number in zip(named, numbers, strict=True)
    ):
        numbers = named
    for index, (label, number) in enumerate(zip(labels, numbers, strict=True)):
        if number is None or not 0 <= number < count:
            listed = ", ".join(map(str, (names or ())[:20]))
            raise ItemErrors(
                {
                    index: f"the label {str(label)[:40]!r} is no class of the model. Choose from: {listed}; or numbers "
                    f"below {count}. All labels are names, or all are numbers."
                }
            )
    return [number for number in numbers if number is not None]


def renamed_labels(
    labels: Sequence[Any], mapping: Mapping[str, str], names: Sequence[str] | None
) -> list[Any]:
    """Labels of a file under the model's class names, by a mapping from one to the other; others stay as they are."""
    here = list(dict.fromkeys(map(_written, labels)))
    keys = {_written(key): name for key, name in mapping.items()}
    if unknown := [key for key in keys if key not in here]:
        raise InputError(
            f"The labels to rename are not all in the data: {unknown[0]!r} is not. "
            f"The data has {', '.join(map(repr, here[:20]))}{', …' if len(here) > 20 else ''}."
        )
    known = {str(name).strip().casefold() for name in names or ()}
    if unknown := [name for name in keys.values() if str(name).strip().casefold() not in known]:
        raise InputError(
            f"{unknown[0]!r} is no class of the model. Its classes: {', '.join(map(str, (names or ())[:20])) or 'none'}."
        )
    return [keys.get(_written(label), label) for label in labels]


def _written(label: Any) -> str:
    """A label as it would be typed: 1.0 is "1"."""
    number = None if isinstance(label, str) else _whole(label)
    return str(label).strip() if number is None else str(number)


def _whole(label: Any) -> int | None:
    """None for what is no whole number: 0.9 is no class."""
    try:
        number = float(label)
    except (OverflowError, TypeError, ValueError):
        return None
    return int(number) if number.is_integer() else None
