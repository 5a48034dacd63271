"""What a corpus says of itself: what it is, where it comes from, under which licence, and where it is looked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from attnaudit.core import registry
from attnaudit.core.errors import InputError

Reader = TypeVar("Reader", bound=Callable[..., Any])
_OPTION = re.compile(r"\{(\w+)\}")
_PLAIN_NAME = re.compile(r"\w[\w.-]*")


@dataclass(frozen=True)
class Download:
    """A file of the official distribution that may be fetched by anyone."""

    url: str
    checksum: str  # "sha256:…" or "md5:…", as the source of the checksum has it
    saved_as: str  # path below the data folder


@dataclass(frozen=True)
class About:
    title: str
    task: str
    size: str
    licence: str
    home: str
    # Below the data folder, patterns and options such as {corpus} allowed, the first that is there counts; empty: needs no data folder.
    places: tuple[str, ...]
    holds: tuple[str, ...] = ()  # what a place that is a folder must have in it, patterns allowed
    downloads: tuple[Download, ...] = ()
    steps: str = ""  # how to get it where it may not simply be downloaded
    version: int = 1  # of the reader; raised when the same files give other examples
    locate: Callable[[], Path] | None = None  # finds the place where it is not in the data folder

    def chosen(self, options: Mapping[str, Any]) -> About:
        """With the options that its places name put in."""
        named = dict.fromkeys(name for place in self.places for name in _OPTION.findall(place))
        for name in named:
            if not isinstance(options[name], str) or not _PLAIN_NAME.fullmatch(options[name]):
                raise InputError(
                    f"{name} must be the name of a folder or archive, of letters, digits, dots, hyphens and underscores, "
                    f"got {options[name]!r}."
                )
        return replace(
            self,
            places=tuple(
                _OPTION.sub(lambda found: options[found[1]], place) for place in self.places
            ),
        )

    def find(self, name: str, folder: Path) -> Path:
        """The folder, archive or file of the corpus."""
        found = self.look(folder)
        if found is not None:
            return found
        get = (
            f"`attnaudit data get {name}` fetches it."
            if self.downloads
            else f"{self.steps or f'See {self.home}.'}"
        )
        raise InputError(
            f"The corpus {name!r} is not in {folder}: looked for {', '.join(self.places)}"
            f"{' with ' + ', '.join(self.holds) + ' in it' if self.holds else ''}. {get} "
            "If it lies elsewhere, name the folder with --data-dir or in the environment variable ATTNAUDIT_DATA."
        )

    def look(self, folder: Path) -> Path | None:
        if self.locate is not None:
            with suppress(InputError):
                return self.locate()
            return None
        for pattern in self.places:
            for place in sorted(folder.glob(pattern)) if pattern != "." else [folder]:
                if place.is_file() or (place.is_dir() and not self.missing(place)):
                    return place
        return None

    def missing(self, place: Path) -> list[str]:
        return [each for each in self.holds if not any(_either(place, each))]


def _either(place: Path, pattern: str) -> list[Path]:
    """A file may lie there compressed."""
    return [path for suffix in ("", ".gz", ".xz", ".bz2") for path in place.glob(pattern + suffix)]


def describes(about: About) -> Callable[[Reader], Reader]:
    """Put what a corpus says of itself on its reader. The reader gets the place that was found as its first parameter."""

    def mark(reader: Reader) -> Reader:
        reader.about = about  # type: ignore[attr-defined]
        return reader

    return mark


def about_of(reader: Callable[..., Any]) -> About | None:
    found = getattr(reader, "about", None)
    return found if isinstance(found, About) else None


def corpus_of(dataset: str) -> str:
    """The corpus a choice of dataset is about, whatever its other options: "sst", "babi:task=2", "mimic:task=anemia"."""
    name, options = registry.parse(dataset)
    if name in ("babi", "babi_files"):
        return f"babi:task={options.get('task', 1)}"
    if name == "mimic":
        return f"mimic:task={options.get('task', 'diabetes')}"
    return name
