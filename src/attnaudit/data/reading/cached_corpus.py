"""A corpus read from its files, or from the cache if files and options are the same."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from attnaudit.core.process_locks import exclusive
from attnaudit.data.corpus_info import About
from attnaudit.data.reading import parquet_cache
from attnaudit.data.reading.cache import cached_file
from attnaudit.data.reading.tokenise import tokeniser_name
from attnaudit.data.splits import Splits


def read_corpus(
    reader: Callable[..., Splits],
    name: str,
    about: About,
    place: Path,
    options: dict[str, Any],
    *,
    cache: bool,
) -> Splits:
    """Read a corpus from its files, or from the cache if the files and options are the same."""
    if not cache:
        return _without_folder(reader(place, **options), place)
    bound = inspect.signature(reader).bind(place, **options)
    bound.apply_defaults()
    resolved = {key: value for key, value in bound.arguments.items() if value is not place}
    if "tokeniser" in resolved:  # what "auto" means changes once spaCy is installed
        resolved["tokeniser"] = tokeniser_name(resolved["tokeniser"])
    cached = cached_file(name, about.version, resolved, place)
    # A missing, unreadable or damaged cache file (pyarrow's errors are among these) is ignored.
    with suppress(OSError, ValueError, KeyError, TypeError, NotImplementedError):
        return parquet_cache.load(cached)
    # One process parses; others that want the same corpus meanwhile wait and read what it stored.
    with exclusive(cached.with_name(f"{cached.name}.lock")):
        with suppress(OSError, ValueError, KeyError, TypeError, NotImplementedError):
            return parquet_cache.load(cached)
        splits = _without_folder(reader(place, **options), place)
        with suppress(OSError):  # a full or read-only cache folder must not stop the reading
            parquet_cache.save(splits, cached)
    return splits


def _without_folder(splits: Splits, place: Path) -> Splits:
    """Remove the user's folders from messages of skipped rows, which are stored with results."""
    skipped = splits.notes.get("skipped", {})
    if "first" not in skipped:
        return splits
    folder = f"{place.parent}{os.sep}"
    first = [message.replace(folder, "") for message in skipped["first"]]
    return replace(
        splits, notes={**splits.notes, "skipped": {**skipped, "first": first}}, checked=True
    )
