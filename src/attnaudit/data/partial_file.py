"""An unfinished download: kept next to the target file, under a hidden name, until it is whole."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from attnaudit.core.errors import InputError

if TYPE_CHECKING:
    import requests


@dataclass(frozen=True)
class PartialFile:
    """The bytes received so far, and the version of the file that the server sent."""

    path: Path

    @classmethod
    def of(cls, target: Path, checksum: str) -> PartialFile:
        """The partial file of `target`; its name has the checksum, so versions never mix."""
        return cls(target.with_name(f".{target.name}.{checksum.partition(':')[2][:12]}.partial"))

    @property
    def size(self) -> int:
        """Bytes received so far."""
        return self.path.stat().st_size if self.path.exists() else 0

    @property
    def version_path(self) -> Path:
        """Where the server's name for this version of the file is stored."""
        return self.path.with_suffix(".version")

    def headers(self) -> dict[str, str]:
        """Request headers for the remaining bytes, if the server still has the same version."""
        headers = {"Accept-Encoding": "identity"}  # the checksum is of the bytes as stored
        if not self.size:
            return headers
        headers["Range"] = f"bytes={self.size}-"
        try:
            version = str(json.loads(self.version_path.read_text("utf-8"))["version"])
        except (OSError, ValueError, KeyError, TypeError):
            return headers  # the server named no version; the checksum decides in the end
        return {**headers, "If-Range": version}

    def save_version(self, response: requests.Response) -> None:
        """Store the version named by a response, or forget the old one if it names none."""
        tag, date = response.headers.get("ETag", ""), response.headers.get("Last-Modified")
        # A weak tag does not promise the same bytes.
        version = tag if tag and not tag.startswith("W/") else date
        if version:
            self.version_path.write_text(json.dumps({"version": version}), "utf-8")
        else:
            self.version_path.unlink(missing_ok=True)

    def remove(self) -> None:
        """Delete the partial file and its version."""
        self.path.unlink(missing_ok=True)
        self.version_path.unlink(missing_ok=True)


@contextmanager
def download_lock(folder: Path) -> Iterator[None]:
    """Allow one download into a folder at a time; two would spoil each other's file."""
    try:
        import fcntl
    except ImportError:  # Windows does not replace a file that is open
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"{folder}: another download into this folder is running. "
                "Wait until it has finished, or stop it."
            ) from None
        except OSError:
            pass  # a file system without locks
        yield
    finally:
        os.close(handle)
