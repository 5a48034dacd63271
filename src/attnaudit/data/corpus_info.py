"""What a corpus says about itself: title, licence, downloads, and where its files are expected."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
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
    """A file of the official distribution that anyone may download."""

    url: str
    checksum: str  # "sha256:…" or "md5:…", as published
    saved_as: str  # path below the data folder


@dataclass(frozen=True)
class About:
    """Description of a corpus, for `attnaudit data` and for finding its files."""

    title: str
    task: str
    size: str
    licence: str
    home: str
    # Patterns below the data folder, with options such as {corpus}; the first match counts.
    # Empty: the dataset needs no data folder.
    places: tuple[str, ...]
    holds: tuple[str, ...] = ()  # patterns that a folder must contain to count as a match
    downloads: tuple[Download, ...] = ()
    steps: str = ""  # how to get a corpus that cannot simply be downloaded
    version: int = 1  # of the reader; raised when the same files give other examples
    locate: Callable[[], Path] | None = None  # finds a corpus that is not in the data folder

    def with_options(self, options: Mapping[str, Any]) -> About:
        """The same with the options that its places name filled in."""
        named = dict.fromkeys(name for place in self.places for name in _OPTION.findall(place))
        for name in named:
            if not isinstance(options[name], str) or not _PLAIN_NAME.fullmatch(options[name]):
                raise InputError(
                    f"{name} must be the name of a folder or archive, of letters, digits, dots, "
                    f"hyphens and underscores, got {options[name]!r}."
                )
        places = (_OPTION.sub(lambda match: options[match[1]], place) for place in self.places)
        return replace(self, places=tuple(places))

    def find(self, name: str, folder: Path) -> Path:
        """The folder, archive or file of the corpus, or an error that says how to get it."""
        place = self.look(folder)
        if place is not None:
            return place
        advice = (
            f"`attnaudit data get {name}` downloads it."
            if self.downloads
            else self.steps or f"See {self.home}."
        )
        contents = f" with {', '.join(self.holds)} in it" if self.holds else ""
        raise InputError(
            f"The corpus {name!r} is not in {folder}: looked for {', '.join(self.places)}"
            f"{contents}. {advice} If it is elsewhere, name the folder with --data-dir or in the "
            "environment variable ATTNAUDIT_DATA."
        )

    def look(self, folder: Path) -> Path | None:
        """The folder, archive or file of the corpus; None if it is not there."""
        if self.locate is not None:
            with suppress(InputError):
                return self.locate()
            return None
        for place in self.candidates(folder):
            if place.is_file() or (place.is_dir() and not self.missing(place)):
                return place
        return None

    def candidates(self, folder: Path) -> Iterator[Path]:
        """Everything below `folder` that matches one of the places, in their order."""
        for pattern in self.places:
            yield from sorted(folder.glob(pattern)) if pattern != "." else [folder]

    def missing(self, place: Path) -> list[str]:
        """The patterns in `holds` that nothing in a folder matches, compressed or not."""
        return [
            pattern
            for pattern in self.holds
            if not any(any(place.glob(pattern + suffix)) for suffix in ("", ".gz", ".xz", ".bz2"))
        ]


def describes(about: About) -> Callable[[Reader], Reader]:
    """Attach a description to a reader, which then gets the place found as its first argument."""

    def mark(reader: Reader) -> Reader:
        reader.about = about  # type: ignore[attr-defined]
        return reader

    return mark


def about_of(reader: Callable[..., Any]) -> About | None:
    """The description of a reader; None for simulators and functions of the user's own."""
    about = getattr(reader, "about", None)
    return about if isinstance(about, About) else None


def corpus_of(dataset: str) -> str:
    """The corpus that a dataset choice is about, whatever its other options.

    Examples
    --------
    >>> corpus_of("sst:min_length=3"), corpus_of("babi_files:task=2,size=1k"), corpus_of("mimic")
    ('sst', 'babi:task=2', 'mimic:task=diabetes')
    """
    name, options = registry.parse(dataset)
    if name in ("babi", "babi_files"):
        return f"babi:task={options.get('task', 1)}"
    if name == "mimic":
        return f"mimic:task={options.get('task', 'diabetes')}"
    return name
