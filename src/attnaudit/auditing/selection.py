"""Which audits and measures to run: the defaults, all, by name, or your own functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from attnaudit.audits import AUDITS, DEFAULT_AUDITS
from attnaudit.core import registry
from attnaudit.core.errors import InputError
from attnaudit.measures import DEFAULT_MEASURES, MEASURES

Choice = str | Callable[..., Any]


Registry = dict[str, Callable[..., Any]]


def find_audits(
    choices: Sequence[Choice] | None,
    known: Registry = AUDITS,
    defaults: Sequence[str] = DEFAULT_AUDITS,
) -> Registry:
    """Name -> audit with its options bound; wrong names and options are rejected before any work.

    Parameters
    ----------
    choices : sequence of str or callable, or None
        Names, "name:option=value" or functions; "all" for every audit, None for the default ones.
    known, defaults : the audits to choose from, and those that run by default.
        "default" among others stands for the default ones, except those that are given otherwise.

    Examples
    --------
    >>> list(find_audits(["permutation:shuffles=10", "furthest"]))
    ['permutation:shuffles=10', 'furthest']
    >>> [name for name in find_audits(["default", "top_words:texts=400"]) if "top_w" in name]
    ['top_words:texts=400']
    """
    return _resolve(known, _as_list(known, defaults, choices), "audit")


def find_measures(
    choices: Sequence[Choice] | None,
    known: Registry = MEASURES,
    defaults: Sequence[str] = DEFAULT_MEASURES,
) -> Registry:
    """Name -> measure with its options bound; attention is always among them.

    Parameters
    ----------
    choices, known, defaults
        As for `find_audits`.

    Examples
    --------
    >>> list(find_measures(["gradient"]))
    ['attention', 'gradient']
    """
    listed = _as_list(known, defaults, choices)
    if "attention" not in listed:
        listed = ["attention", *listed]
    return _resolve(known, listed, "measure")


def _as_list(
    known: dict[str, Callable[..., Any]],
    defaults: Sequence[str],
    choices: Sequence[Choice] | Choice | None,
) -> list[Choice]:
    """The defaults for None, everything for "all", a list of one for a single choice.

    "default" in a list stands for the defaults that are not in it with other options.
    """
    if choices is None:
        return list(defaults)
    if choices in ("all", ["all"], ("all",)):
        return list(known)
    listed = [choices] if isinstance(choices, str) or callable(choices) else list(choices)
    if "default" not in listed:
        return listed
    others = [choice for choice in listed if choice != "default"]
    given = {registry.parse(choice)[0] for choice in others if isinstance(choice, str)}
    return [*(name for name in defaults if name not in given), *others]


def _resolve(
    known: dict[str, Callable[..., Any]], choices: list[Choice], kind: str
) -> dict[str, Callable[..., Any]]:
    resolved: dict[str, Callable[..., Any]] = {}
    for choice in choices:
        name = choice_name(choice)
        if name in resolved or (callable(choice) and name in known and known[name] is not choice):
            raise InputError(
                f"There are two of the {kind} {name!r}. "
                "Give your own functions names of their own, and list each once."
            )
        resolved[name] = registry.find(known, choice, kind)
    return resolved


def choice_name(choice: Choice) -> str:
    """The name of a choice: as written, or that of the function."""
    if isinstance(choice, str):
        return choice
    function = choice.func if isinstance(choice, partial) else choice
    return getattr(function, "__name__", type(function).__name__)
