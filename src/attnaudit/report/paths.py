"""Texts for pages that are passed on: a file is called by its name, never by the folders it lies in."""

from __future__ import annotations

import re

# An absolute path, or one from a home folder, at the start or after what sets off an option's value; up to its last part.
_FOLDERS = re.compile(
    r"(^|[\s=:,;(\"'])(?:~[^/\\\s]*|[A-Za-z]:)?[/\\](?=\S)(?:[^/\\,;=:\"']+[/\\]+)*"
)


def without_folders(text: str) -> str:
    """ "text_file:path=/home/ann/reviews.csv" -> "text_file:path=reviews.csv"."""
    return _FOLDERS.sub(r"\1", text)
