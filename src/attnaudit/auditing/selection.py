"""Which audits and measures are asked for: the usual ones, all, names with options, or functions of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from attnaudit.audits import AUDITS, DEFAULT_AUDITS
from attnaudit.core import registry
from attnaudit.core.errors import InputError
from attnaudit.measures import DEFAULT_MEASURES, MEASURES

Choice = str | Callable[..., Any]


def find_audits(wanted: Sequence[Choice] | None) -> dict[str, Callable[..., Any]]:
    """name -> function, all found before any long work starts."""
    return _resolve(AUDITS, _as_list(AUDITS, DEFAULT_AUDITS, wanted), "audit")


def find_measures(wanted: Sequence[Choice] | None) -> dict[str, Callable[..., Any]]:
    """The same for measures; attention is always among them."""
    listed = _as_list(MEASURES, DEFAULT_MEASURES, wanted)
    return _resolve(
        MEASURES, listed if "attention" in listed else ["attention", *listed], "measure"
    )


def _as_list(
    known: dict[str, Callable[..., Any]],
    usual: Sequence[str],
    wanted: Sequence[Choice] | Choice | None,
) -> list[Choice]:
    """The usual ones by default, everything for "all"; one choice stands for a list of one."""
    if wanted is None:
        return list(usual)
    if wanted in ("all", ["all"], ("all",)):
        return list(known)
    return [wanted] if isinstance(wanted, str) or callable(wanted) else list(wanted)


def _resolve(
    known: dict[str, Callable[..., Any]], listed: list[Choice], kind: str
) -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    for choice in listed:
        name = _text(choice)
        if name in found or (callable(choice) and name in known and known[name] is not choice):
            raise InputError(
                f"There are two of the {kind} {name!r}. Give your own functions names of their own, and list each once."
            )
        found[name] = registry.find(known, choice, kind)
    return found


def _text(choice: Choice) -> str:
    if isinstance(choice, str):
        return choice
    inner = choice.func if isinstance(choice, partial) else choice
    return getattr(inner, "__name__", type(inner).__name__)
