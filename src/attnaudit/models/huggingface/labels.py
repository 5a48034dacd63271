"""Turn the labels of a user's texts into class numbers of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attnaudit.core.errors import InputError, ItemErrors


def class_names(config: Any) -> tuple[str, ...]:
    """Return the class names in a config's id2label, by class number; they must be distinct."""
    names = {number: config.id2label[number] for number in sorted(config.id2label)}
    if list(names) != list(range(len(names))):
        raise InputError(
            f"The config's id2label must number the classes 0 to {len(names) - 1} without gaps, "
            f"got {list(names)[:8]}."
        )
    for number, name in names.items():
        if not isinstance(name, (str, int, float)) or not str(name).strip():
            raise InputError(
                f"The config's id2label calls class {number} {name!r}; expected a name."
            )
    listed = tuple(str(name).strip() for name in names.values())
    if len(set(listed)) < len(listed):
        twice = next(name for index, name in enumerate(listed) if name in listed[:index])
        raise InputError(
            f"The config's id2label calls two classes {twice!r}. Give every class its own name in "
            "config.json, or set model.config.id2label."
        )
    return listed


def class_numbers(labels: Sequence[Any], names: Sequence[str] | None, tokens: int) -> list[int]:
    """Return the class number of each label.

    Labels are all class names, in any case, or all numbers from 0. The whole column is read in
    one way, so that classes called "1" to "5" and labels 0 to 4 are not confused. Without names
    (the next word of a language model) labels are token ids below `tokens`.
    """
    exact = {str(name).strip(): number for number, name in enumerate(names or ())}
    folded = [name.casefold() for name in exact]
    # Classes that differ only in case are known by their exact names.
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
    if all(number is not None for number in named) or any(
        name is not None and number is None for name, number in zip(named, numbers, strict=True)
    ):
        numbers = named
    for index, (label, number) in enumerate(zip(labels, numbers, strict=True)):
        if number is None or not 0 <= number < count:
            listed = ", ".join(map(str, (names or ())[:20]))
            raise ItemErrors(
                {
                    index: f"the label {str(label)[:40]!r} is not a class of the model. Choose "
                    f"from: {listed}; or numbers below {count}. Labels must be all names or all "
                    "numbers."
                }
            )
    return [number for number in numbers if number is not None]


def renamed_labels(
    labels: Sequence[Any], mapping: Mapping[str, str], names: Sequence[str] | None
) -> list[Any]:
    """Rename the labels of a file by a mapping to classes; other labels stay as they are.

    Classes are names, or numbers from 0.
    """
    present = list(dict.fromkeys(map(_written, labels)))
    keys = {_written(key): name for key, name in mapping.items()}
    if unknown := [key for key in keys if key not in present]:
        raise InputError(
            f"The labels to rename are not all in the data: {unknown[0]!r} is not. "
            f"The data has {', '.join(map(repr, present[:20]))}"
            f"{', …' if len(present) > 20 else ''}."
        )
    known = {str(name).strip().casefold() for name in names or ()}
    # A class by its number, unless that is the name of a class, too.
    keys = {
        key: names[int(name)]
        if names and name.strip().casefold() not in known and _is_number_of(name, names)
        else name
        for key, name in keys.items()
    }
    if unknown := [name for name in keys.values() if str(name).strip().casefold() not in known]:
        raise InputError(
            f"{unknown[0]!r} is not a class of the model. Its classes: "
            f"{', '.join(map(str, (names or ())[:20])) or 'none'}."
        )
    return [keys.get(_written(label), label) for label in labels]


def _is_number_of(text: str, names: Sequence[str]) -> bool:
    return text.strip().isdigit() and int(text) < len(names)


def _written(label: Any) -> str:
    """Return a label as it would be typed: 1.0 is "1"."""
    number = None if isinstance(label, str) else _whole(label)
    return str(label).strip() if number is None else str(number)


def _whole(label: Any) -> int | None:
    """Return a label as a whole number; None if it is not one, such as 0.9."""
    try:
        number = float(label)
    except (OverflowError, TypeError, ValueError):
        return None
    return int(number) if number.is_integer() else None
