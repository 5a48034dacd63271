"""The keys of a grid file: which there are, what their values may be, and how values are checked.

Every flat choice of `make_experiment` is a key, by its own name or, if it is a name that is
usually listed, by its plural.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from attnaudit.auditing.selection import find_audits, find_measures
from attnaudit.core import registry
from attnaudit.core.errors import InputError
from attnaudit.data import check_choice
from attnaudit.models import MODELS, Architecture
from attnaudit.models.architecture import PARTS
from attnaudit.training.experiment import ExperimentConfig
from attnaudit.training.interventions import INTERVENTIONS
from attnaudit.training.presets import PRESETS
from attnaudit.training.recipe import Recipe

PLURALS = {
    "datasets": "dataset",
    "models": "model",
    "encoders": "encoder",
    "scorers": "scorer",
    "projections": "projection",
    "outputs": "output",
    "presets": "preset",
    "interventions": "intervention",
    "seeds": "seed",
}
TABLES = ("include", "exclude")
# Choices that are lists of names themselves: a list of names is one value, a list of lists several.
SELECTIONS = ("audits", "measures")
# `variant` and `base` are what interventions set.
_LEFT_OUT = ("architecture", "recipe", "variant", "base")


class Key(NamedTuple):
    """What a key takes: in words, and a function that raises InputError for a wrong value."""

    expected: str
    types: tuple[type, ...]
    check: Callable[[Any], Any]


def keys() -> dict[str, Key]:
    """Every key in the singular."""
    return {
        **_flat_choices(),
        "dataset": Key("a name or a file", (str,), check_choice),
        "preset": Key("a name", (str,), lambda value: registry.find(PRESETS, value, "preset")),
        "intervention": Key(
            "a name", (str,), lambda value: registry.find(INTERVENTIONS, value, "intervention")
        ),
        "model": Key("a name", (str,), lambda value: registry.find(MODELS, value, "model")),
        **{part: Key("a name", (str,), partial(_find_part, part)) for part in PARTS},
        "audits": Key("a list of names", (list, tuple, str), find_audits),
        "measures": Key("a list of names", (list, tuple, str), find_measures),
        "vectors": Key("a file", (str,), _check_file),
    }


def singular(key: str) -> str:
    """The name that `make_experiment` knows.

    Examples
    --------
    >>> singular("encoders"), singular("epochs")
    ('encoder', 'epochs')
    """
    return PLURALS.get(key, key)


def _flat_choices() -> dict[str, Key]:
    """The fields of the classes that make up an experiment, checked by those classes."""
    keys: dict[str, Key] = {}
    for kind in (Architecture, Recipe, ExperimentConfig):
        hints = get_type_hints(kind)
        for field in fields(kind):
            if field.name not in _LEFT_OUT:
                words, types = _expected(hints[field.name])
                keys[field.name] = Key(words, types, partial(_construct, kind, field.name))
    return keys


def _expected(hint: Any) -> tuple[str, tuple[type, ...]]:
    text = str(hint)
    if "float" in text:
        return "a number", (int, float)
    if "int" in text:
        return "a whole number", (int,)
    return "a text", (str,)


def _construct(kind: type, name: str, value: Any) -> None:
    kind(**{name: value})


def _find_part(part: str, value: str) -> None:
    registry.find(PARTS[part], value, part)


def _check_file(value: str) -> None:
    if not Path(value).is_file():
        raise InputError(f"There is no file of word vectors at {value}.")
