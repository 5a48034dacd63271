"""A choice with options is a string, "sparsegen:lam=0.5", parsed here and nowhere else."""

from __future__ import annotations

import difflib
import importlib
import inspect
import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.core.option_limits import check, limits_of


def parse(choice: str) -> tuple[str, dict[str, Any]]:
    """ "name:a=1,b=x" -> ("name", {"a": 1, "b": "x"}); "pkg.module:name:a=1" keeps its first colon in the name."""
    name, *rest = choice.split(":")
    if rest and "=" not in rest[0]:
        name = f"{name}:{rest.pop(0)}"
    options: dict[str, Any] = {}
    for pair in ":".join(rest).split(",") if rest else []:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip().isidentifier():
            raise InputError(
                f"Cannot read the option {pair!r} in {choice!r}: write NAME:option=value,option=value."
            )
        options[key.strip()] = _value(value.strip())
    return name.strip(), options


def render(name: str, options: Mapping[str, Any]) -> str:
    """The other way round: a choice that parse reads as these."""
    told = ",".join(
        f"{key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in options.items()
    )
    return f"{name}:{told}" if told else name


def with_options_of(choice: str, usual: str) -> str:
    """The choice, with the options of a usual one of the same name except those it gives itself."""
    name, given = parse(choice)
    usual_name, options = parse(usual)
    return (
        render(name, {**options, **given})
        if name == usual_name and options.keys() - given.keys()
        else choice
    )


def find(
    registry: Mapping[str, Callable[..., Any]], choice: str | Callable[..., Any], kind: str
) -> Callable[..., Any]:
    """The callable a choice names, with its options bound. `kind` is the word for it in the error."""
    if callable(choice):
        return choice
    name, options = parse(choice)
    if ":" in name:
        found = imported(name, kind)
        if not callable(found):
            raise InputError(
                f"Cannot load the {kind} {name!r}: it is a {type(found).__name__}, not a function or class. "
                "Write package.module:name of something importable."
            )
    elif name in registry:
        found = registry[name]
    else:
        near = difflib.get_close_matches(name, registry, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(f"There is no {kind} {name!r}.{hint} Choose from: {', '.join(registry)}.")
    if not options:
        return found
    _check_options(found, name, options, kind)
    return partial(found, **options)


def _check_options(
    found: Callable[..., Any], name: str, options: dict[str, Any], kind: str
) -> None:
    """A misspelt option is told when the choice is made, not when it is used."""
    takes = inspect.signature(found).parameters
    known = [
        each.name
        for each in takes.values()
        if each.kind is each.KEYWORD_ONLY or each.default is not each.empty
    ]
    unknown = [option for option in options if option not in known]
    if unknown and not any(each.kind is each.VAR_KEYWORD for each in takes.values()):
        raise InputError(
            f"The {kind} {name!r} has no option {unknown[0]!r}. Choose from: {', '.join(known) or 'none'}."
        )
    for option, value in options.items():
        told, accepted = _wanted(takes[option]) if option in takes else ("", ())
        if accepted and type(value) not in accepted:  # not isinstance: true is no number
            raise InputError(
                f"The option {option} of the {kind} {name!r} takes {told}, got {value!r}."
            )
    check(limits_of(found), options, called=f"The option {{}} of the {kind} {name!r}")


def _wanted(parameter: inspect.Parameter) -> tuple[str, tuple[type, ...]]:
    """What an option takes, by its default: in words, and as types. No types where text, or nothing at all, will do as well."""
    takes = str(parameter.annotation)
    if "str" in takes or "None" in takes or "Any" in takes:
        return "", ()
    kinds: dict[type, tuple[str, tuple[type, ...]]] = {
        bool: ("true or false", (bool,)),
        int: ("a whole number", (int,)),
        float: ("a number", (int, float)),
    }
    return kinds.get(type(parameter.default), ("", ()))


def imported(name: str, kind: str) -> Any:
    """What "package.module:name" names, whatever it is."""
    module, _, attribute = name.partition(":")
    if "" not in sys.path:
        sys.path.append("")  # the user's own code in the current folder, after everything installed
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise InputError(
            f"Cannot load the {kind} {name!r}: {error}. Write package.module:name of something importable."
        ) from error


def _value(text: str) -> Any:
    """Numbers, true, false and null as JSON reads them; anything else stays text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
