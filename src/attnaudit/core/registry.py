"""Choices written as text, "name:option=value", parsed here and nowhere else."""

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
    """Split a choice into its name and options; "package.module:name" is a name too.

    Examples
    --------
    >>> parse("sparsegen:lam=0.5,steps=3")
    ('sparsegen', {'lam': 0.5, 'steps': 3})
    >>> parse("package.module:name:a=x")
    ('package.module:name', {'a': 'x'})
    """
    name, *rest = choice.split(":")
    if rest and "=" not in rest[0]:
        name = f"{name}:{rest.pop(0)}"
    options: dict[str, Any] = {}
    for pair in ":".join(rest).split(",") if rest else []:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip().isidentifier():
            raise InputError(
                f"Cannot read the option {pair!r} in {choice!r}: "
                "write NAME:option=value,option=value."
            )
        options[key.strip()] = _value(value.strip())
    return name.strip(), options


def render(name: str, options: Mapping[str, Any]) -> str:
    """The choice that `parse` reads as this name and these options.

    Examples
    --------
    >>> render("sparsegen", {"lam": 0.5})
    'sparsegen:lam=0.5'
    """
    pairs = ",".join(
        f"{key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in options.items()
    )
    return f"{name}:{pairs}" if pairs else name


def with_options_of(choice: str, default: str) -> str:
    """Add the options of a default choice of the same name, unless the choice sets them.

    Examples
    --------
    >>> with_options_of("cnn:filters=8", "cnn:filters=64,kernels=3")
    'cnn:filters=8,kernels=3'
    """
    name, given = parse(choice)
    default_name, options = parse(default)
    missing = name == default_name and options.keys() - given.keys()
    return render(name, {**options, **given}) if missing else choice


def find(
    registry: Mapping[str, Callable[..., Any]], choice: str | Callable[..., Any], kind: str
) -> Callable[..., Any]:
    """The callable a choice names, with its options bound. `kind` names it in error messages."""
    if callable(choice):
        return choice
    name, options = parse(choice)
    if ":" in name:
        part = imported(name, kind)
        if not callable(part):
            raise InputError(
                f"Cannot load the {kind} {name!r}: it is a {type(part).__name__}, not a function "
                "or class. Write package.module:name of something importable."
            )
    elif name in registry:
        part = registry[name]
    else:
        near = difflib.get_close_matches(name, registry, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(f"There is no {kind} {name!r}.{hint} Choose from: {', '.join(registry)}.")
    if not options:
        return part
    _check_options(part, name, options, kind)
    return partial(part, **options)


def _check_options(part: Callable[..., Any], name: str, options: dict[str, Any], kind: str) -> None:
    """Report a wrong option when the choice is made, not when it is used."""
    parameters = inspect.signature(part).parameters
    known = [
        parameter.name
        for parameter in parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY or parameter.default is not parameter.empty
    ]
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    unknown = [option for option in options if option not in known]
    if unknown and not takes_any:
        raise InputError(
            f"The {kind} {name!r} has no option {unknown[0]!r}. "
            f"Choose from: {', '.join(known) or 'none'}."
        )
    for option, value in options.items():
        words, types = _expected(parameters[option]) if option in parameters else ("", ())
        if types and type(value) not in types:  # not isinstance: True is not a number
            raise InputError(
                f"The option {option} of the {kind} {name!r} takes {words}, got {value!r}."
            )
    check(limits_of(part), options, called=f"The option {{}} of the {kind} {name!r}")


def _expected(parameter: inspect.Parameter) -> tuple[str, tuple[type, ...]]:
    """What an option takes, judged by its default: in words and as types (none: anything)."""
    annotation = str(parameter.annotation)
    if "str" in annotation or "None" in annotation or "Any" in annotation:
        return "", ()
    kinds: dict[type, tuple[str, tuple[type, ...]]] = {
        bool: ("true or false", (bool,)),
        int: ("a whole number", (int,)),
        float: ("a number", (int, float)),
    }
    return kinds.get(type(parameter.default), ("", ()))


def imported(name: str, kind: str) -> Any:
    """The object that "package.module:name" names."""
    module, _, attribute = name.partition(":")
    if "" not in sys.path:
        sys.path.append("")  # the user's code in the current folder, after all that is installed
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise InputError(
            f"Cannot load the {kind} {name!r}: {error}. "
            "Write package.module:name of something importable."
        ) from error


def _value(text: str) -> Any:
    """Numbers, true, false and null as in JSON; anything else stays text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
