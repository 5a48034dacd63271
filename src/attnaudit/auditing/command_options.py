"""What `audit_files` was called with as options of `attnaudit audit`, to name the next command."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attnaudit.auditing.selection import choice_name

# Option of the command -> argument of the function.
_OPTIONS = {
    "task": "task",
    "split": "split",
    "text_column": "text",
    "label_column": "label",
    "pair_column": "pair",
    "delimiter": "delimiter",
    "encoding": "encoding",
    "leave_out": "leave_out",
    "sample": "sample",
    "max_length": "max_length",
    "skip_bad": "skip_bad",
    "seed": "seed",
    "device": "device",
    "dtype": "dtype",
}
_CHOICES = ("audits", "measures", "explanations")


def command_options(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The options that differ from the defaults, for the results to store.

    Stored results hold no folder of the user: of an absolute path only the name is kept.

    Parameters
    ----------
    function : `audit_files`, for its defaults.
    given : its local variables at the start, with `places` (the data) and `folders` (other models).
    """
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
    }
    options: dict[str, Any] = {
        "model": without_folder(given["model_dir"]),
        "data": [without_folder(place) for place in given["places"]],
    }
    for option, name in _OPTIONS.items():
        if given[name] != defaults[name]:
            options[option] = given[name]
    for name in ("layers", "heads"):
        if (value := given[name]) != defaults[name]:
            options[name] = value if isinstance(value, str) else "+".join(map(str, value))
    for name in _CHOICES:
        if (chosen := given[name]) is not None:
            listed = [chosen] if isinstance(chosen, str) else list(chosen)
            options[name] = ",".join(choice_name(choice) for choice in listed)
    if (words := given["verbalisers"]) is not None:
        named = isinstance(words, Mapping)
        listed = [f"{label}={word}" for label, word in words.items()] if named else list(words)
        options["verbalisers"] = ",".join(listed)
    if given["labels"]:
        options["labels"] = ",".join(f"{label}={name}" for label, name in given["labels"].items())
    given_scores = (given["scores"] or {}).items()
    options["scores"] = [f"{name}={without_folder(path)}" for name, path in given_scores]
    options["scores_column"] = list(given["scores_columns"])
    options["other_models"] = [without_folder(folder) for folder in given["folders"]]
    options["out"] = None if given["out"] is None else without_folder(given["out"])
    return {name: value for name, value in options.items() if value not in (None, [])}


def without_folder(path: str | Path) -> str:
    """A relative path as it is; of an absolute one the name.

    Examples
    --------
    >>> without_folder("data/reviews.csv"), without_folder("/home/mia/reviews.csv")
    ('data/reviews.csv', 'reviews.csv')
    """
    return Path(path).name if Path(path).is_absolute() else str(path)
