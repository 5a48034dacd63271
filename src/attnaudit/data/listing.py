"""The list of datasets: which are in the data folder, and what the others lack."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnaudit.data.corpus_info import About, about_of
from attnaudit.data.datasets import DATASETS


@dataclass(frozen=True)
class Entry:
    """One dataset in the list."""

    name: str
    about: About | None  # None: simulated
    title: str
    place: Path | None  # where it was found
    missing: str  # in words; empty if nothing is

    @property
    def needs_files(self) -> bool:
        """Whether it is read from files that must be there first."""
        return self.about is not None and bool(self.about.places or self.about.locate)


def entries(folder: Path) -> list[Entry]:
    """All datasets: corpora first, by name, then those that need no files."""
    listed = [_entry(name, reader, folder) for name, reader in DATASETS.items()]
    return sorted(
        listed, key=lambda entry: (not entry.needs_files, entry.about is None, entry.name)
    )


def about_chosen(reader: Callable[..., Any], options: Mapping[str, Any]) -> About | None:
    """The description of a reader under these options, which may be part of its place."""
    about = about_of(reader)
    return about and about.with_options(with_defaults(reader, options))


def with_defaults(reader: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """All options of a reader: the ones given, and defaults for the rest."""
    parameters = inspect.signature(reader).parameters.values()
    defaults = {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.default is not parameter.empty
    }
    return defaults | dict(options)


def missing(about: About, folder: Path) -> str:
    """What an incomplete folder lacks, or else where the corpus is expected."""
    if about.locate is not None:
        return "the package that has it"
    for place in about.candidates(folder):
        lacking = about.missing(place) if place.is_dir() else []
        if 0 < len(lacking) < len(about.holds):
            return f"{', '.join(lacking)} in {place}"
    contents = f" with {', '.join(about.holds)} in it" if about.holds else ""
    return f"{' or '.join(place for place in about.places if place != '.')}{contents}"


def _entry(name: str, reader: Callable[..., Any], folder: Path) -> Entry:
    about = about_chosen(reader, {})
    if about is None:
        first_line = (inspect.getdoc(sys.modules[reader.__module__]) or name).splitlines()[0]
        return Entry(name, None, first_line.rstrip("."), None, "")
    place = about.look(folder)
    lacking = "" if place or not (about.places or about.locate) else missing(about, folder)
    return Entry(name, about, about.title, place, lacking)
