"""The part of a file that has come so far: kept beside the place of the file until it is whole."""

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
class Begun:
    """What has come so far, and how the server named that version of the file."""

    path: Path

    @classmethod
    def of(cls, target: Path, checksum: str) -> Begun:
        # The checksum is in the name: what was begun of another version is never gone on with.
        return cls(target.with_name(f".{target.name}.{checksum.partition(':')[2][:12]}.partial"))

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    @property
    def mark(self) -> Path:
        return self.path.with_suffix(".version")

    def headers(self) -> dict[str, str]:
        """Ask for the rest, if the file is still the one that was begun."""
        wanted = {"Accept-Encoding": "identity"}  # the bytes of the file, which the checksum is of
        if not self.size:
            return wanted
        wanted["Range"] = f"bytes={self.size}-"
        try:
            return {**wanted, "If-Range": str(json.loads(self.mark.read_text("utf-8"))["version"])}
        except (OSError, ValueError, KeyError, TypeError):
            return wanted  # the server gave no name; the checksum decides in the end

    def remember(self, answer: requests.Response) -> None:
        tag, date = answer.headers.get("ETag", ""), answer.headers.get("Last-Modified")
        version = (
            tag if tag and not tag.startswith("W/") else date
        )  # a weak tag does not promise the same bytes
        if version:
            self.mark.write_text(json.dumps({"version": version}), "utf-8")
        else:
            self.mark.unlink(missing_ok=True)

    def forget(self) -> None:
        self.path.unlink(missing_ok=True)
        self.mark.unlink(missing_ok=True)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One download into a folder at a time: two that write the same file would spoil it, even after it got its name."""
    try:
        import fcntl
    except ImportError:  # Windows does not let go of a file that is open
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"{folder}: another download into this folder is under way. Wait until it is done, or end it."
            ) from None
        except OSError:
            pass  # a file system without locks
        yield
    finally:
        os.close(handle)
