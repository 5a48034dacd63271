"""Where parsed corpora are kept, and when one may be used again: the same files, reader, options and tokeniser."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError

FORMAT = 2  # of the stored file; raised when it changes


def cache_folder() -> Path:
    """ATTNAUDIT_CACHE, or else the user's cache folder."""
    import pooch

    return Path(os.environ.get("ATTNAUDIT_CACHE") or pooch.os_cache("attnaudit"))


def cached_file(name: str, version: int, options: dict[str, Any], place: Path) -> Path:
    key = json.dumps(
        [FORMAT, name, version, options, files_fingerprint(place)], sort_keys=True, default=str
    )
    return (
        cache_folder()
        / "parsed"
        / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:24]}.parquet"
    )


def files_fingerprint(place: Path) -> str:
    """Of a file, its content; of a folder, the names, sizes and times of its files (fifty thousand are not read for this)."""
    try:
        return _file(place) if place.is_file() else _folder(place)
    except OSError as error:
        raise InputError(
            f"{place}: cannot be read ({error}). Check that it is there and may be read."
        ) from error


def _file(place: Path) -> str:
    with place.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _folder(place: Path) -> str:
    digest = hashlib.sha256()
    for folder, _, names in sorted(os.walk(place)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not os.path.exists(path):  # a link to nothing, which is not read either
                continue
            status = os.stat(path)
            digest.update(
                f"{folder}/{name} {status.st_size} {status.st_mtime_ns}\n".encode(
                    "utf-8", "surrogateescape"
                )
            )
    return digest.hexdigest()
