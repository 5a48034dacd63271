"""Names of cached corpora: a function of the files, the reader's version and its options."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.core.output_files import sha256

FORMAT = 2  # version of the stored format


def cache_folder() -> Path:
    """The folder in ATTNAUDIT_CACHE, or the user's cache folder."""
    import pooch

    return Path(os.environ.get("ATTNAUDIT_CACHE") or pooch.os_cache("attnaudit"))


def cached_file(name: str, version: int, options: dict[str, Any], place: Path) -> Path:
    """Path of the cached corpus for these files and options; whether it exists is not checked."""
    key = json.dumps(
        [FORMAT, name, version, options, files_fingerprint(place)], sort_keys=True, default=str
    )
    digest = hashlib.sha256(key.encode()).hexdigest()[:24]
    return cache_folder() / "parsed" / f"{name}-{digest}.parquet"


def files_fingerprint(place: Path) -> str:
    """A hash of a file's content, or of the names, sizes and times of the files in a folder.

    A folder may have 50,000 files, which would take too long to read.
    """
    try:
        return sha256(place) if place.is_file() else _folder_fingerprint(place)
    except OSError as error:
        raise InputError(
            f"{place}: cannot be read ({error}). Check that it exists and its permissions."
        ) from error


def _folder_fingerprint(place: Path) -> str:
    digest = hashlib.sha256()
    for folder, _, names in sorted(os.walk(place)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not os.path.exists(path):  # a broken link, which is not read either
                continue
            status = os.stat(path)
            digest.update(
                f"{folder}/{name} {status.st_size} {status.st_mtime_ns}\n".encode(
                    "utf-8", "surrogateescape"
                )
            )
    return digest.hexdigest()
