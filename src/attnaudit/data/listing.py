"""Which corpora there are, which of them are in the data folder, and what is missing of the others."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnaudit.data import DATASETS
from attnaudit.data.corpus_info import About, about_of


@dataclass(frozen=True)
class Entry:
    name: str
    about: About | None  # None: simulated
    title: str
    place: Path | None  # where it was found
    missing: str  # in words; empty where nothing is

    @property
    def needs_files(self) -> bool:
        return self.about is not None and bool(self.about.places or self.about.locate)


def entries(folder: Path) -> list[Entry]:
    """Corpora first, by name; then what needs no files."""
    made = [_entry(name, reader, folder) for name, reader in DATASETS.items()]
    return sorted(made, key=lambda entry: (not entry.needs_files, entry.about is None, entry.name))


def about_chosen(reader: Callable[..., Any], options: Mapping[str, Any]) -> About | None:
    """What a corpus says of itself under these options, defaults for the rest: they may be part of its place."""
    about = about_of(reader)
    return about and about.chosen(settled(reader, options))


def settled(reader: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(reader).parameters.values()
    return {
        each.name: each.default for each in parameters if each.default is not each.empty
    } | dict(options)


def _entry(name: str, reader: Callable[..., Any], folder: Path) -> Entry:
    about = about_chosen(reader, {})
    if about is None:
        first_line = (inspect.getdoc(sys.modules[reader.__module__]) or name).splitlines()[0]
        return Entry(name, None, first_line.rstrip("."), None, "")
    place = about.look(folder)
    lacking = "" if place or not (about.places or about.locate) else missing(about, folder)
    return Entry(name, about, about.title, place, lacking)


def missing(about: About, folder: Path) -> str:
    """What a folder lacks that has some of it, or else where the corpus was looked for."""
    if about.locate is not None:
        return "the package that has it"
    for pattern in about.places:
        for place in sorted(folder.glob(pattern)) if pattern != "." else [folder]:
            lacking = about.missing(place) if place.is_dir() else []
            if 0 < len(lacking) < len(about.holds):
                return f"{', '.join(lacking)} in {place}"
    inside = f" with {', '.join(about.holds)} in it" if about.holds else ""
    return f"{' or '.join(each for each in about.places if each != '.')}{inside}"
