"""A grid file, or a dict of the same shape: read, and checked before any work."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.training.grids.keys import PLURALS, SELECTIONS, TABLES, Key, keys, singular
from attnaudit.training.grids.places import Places

Values = dict[str, tuple[Any, ...]]  # key in the singular -> the values it takes


@dataclass(frozen=True)
class Spec:
    """What a grid file says.

    Attributes
    ----------
    values : every key with all the values it takes.
    includes, excludes : the same for each [[include]] and [[exclude]].
    places : where they stand.
    """

    values: Values
    includes: tuple[Values, ...] = ()
    excludes: tuple[Values, ...] = ()
    places: Places = field(default_factory=Places)


def read_spec(source: Mapping[str, Any] | str | Path) -> Spec:
    """Read a grid file, or take a dict of the same shape.

    Parameters
    ----------
    source : path of a TOML file, or a dict.

    Raises
    ------
    InputError
        For a file that cannot be read, an unknown key, a wrong type, an unknown name; the message
        begins with the place.

    Examples
    --------
    >>> read_spec({"datasets": ["keyword"], "encoder": "average", "seeds": [0, 1]}).values
    {'dataset': ('keyword',), 'encoder': ('average',), 'seed': (0, 1)}
    """
    if isinstance(source, Mapping):
        content, places = dict(source), Places()
    else:
        content, places = _read_file(Path(source))
    reader = _Reader(places, keys())
    values = reader.values({key: value for key, value in content.items() if key not in TABLES})
    tables = {name: reader.tables(name, content.get(name, [])) for name in TABLES}
    return Spec(values, tables["include"], tables["exclude"], places)


def _read_file(path: Path) -> tuple[dict[str, Any], Places]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"Cannot read the grid file {path}: {error.strerror}. Give the path of a TOML file."
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text. A grid file is TOML, in UTF-8.") from error
    try:
        return tomllib.loads(text), Places(path.name, text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path.name} is not TOML: {error}.") from error


class _Reader:
    """Checks keys and values, and says where they stand."""

    def __init__(self, places: Places, known: dict[str, Key]) -> None:
        self.places = places
        self.known = known

    def tables(self, name: str, content: Any) -> tuple[Values, ...]:
        if not isinstance(content, list | tuple) or not all(
            isinstance(table, Mapping) for table in content
        ):
            raise InputError(
                f"{self.places.of(name)}: {name} must be tables, each headed [[{name}]]."
            )
        for number, table in enumerate(content):
            if not table:
                raise InputError(f"{self.places.of(None, name, number)}: the table is empty.")
        return tuple(self.values(table, name, number) for number, table in enumerate(content))

    def values(
        self, content: Mapping[str, Any], table: str | None = None, number: int = 0
    ) -> Values:
        values: Values = {}
        for key, value in content.items():
            where = self.places.of(key, table, number)
            name = singular(key)
            if name not in self.known:
                raise InputError(f"{where}: there is no key {key!r}.{self._hint(key)}")
            if name in values:
                raise InputError(f"{where}: {name} is given twice, as {name} and in the plural.")
            values[name] = self._listed(name, key, value, where)
        return values

    def _listed(self, name: str, key: str, value: Any, where: str) -> tuple[Any, ...]:
        """Every value of a key, each checked."""
        if name in SELECTIONS:
            several = isinstance(value, list | tuple) and any(
                isinstance(entry, list | tuple) for entry in value
            )
            listed = list(value) if several else [value]
        else:
            listed = list(value) if isinstance(value, list | tuple) else [value]
        if not listed and name != "intervention":
            raise InputError(f"{where}: {key} is an empty list, so the grid has no cells.")
        checked = []
        for index, entry in enumerate(listed):
            here = f"{where}: {key}" + (f", value {index + 1}" if len(listed) > 1 else "")
            checked.append(self._checked(name, entry, here))
            if checked.index(checked[-1]) < index:
                raise InputError(f"{here}: {entry!r} is listed twice.")
        return tuple(checked)

    def _checked(self, name: str, value: Any, here: str) -> Any:
        key = self.known[name]
        if name in SELECTIONS:
            value = (value,) if isinstance(value, str) else value
            if not isinstance(value, list | tuple) or not all(
                isinstance(entry, str) for entry in value
            ):
                raise InputError(f"{here} must be {key.expected}, got {value!r}.")
            if not value:
                raise InputError(f"{here} is an empty list. Leave it out for the usual ones.")
            value = tuple(value)
        elif type(value) not in key.types:  # not isinstance: true is not a number
            raise InputError(f"{here} must be {key.expected}, got {value!r}.")
        try:
            key.check(value)
        except InputError as error:
            raise InputError(f"{here}: {error}") from error
        return value

    def _hint(self, key: str) -> str:
        known = [*self.known, *PLURALS, *TABLES]
        near = difflib.get_close_matches(key, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        return f"{hint} Keys are: {', '.join(sorted(known))}."
