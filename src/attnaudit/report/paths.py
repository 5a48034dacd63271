"""File names in pages that are passed on: without the folders the files are in."""

from __future__ import annotations

import re

# An absolute path, or one from a home folder, at the start or after a character that can precede
# an option's value; up to its last part.
_FOLDERS = re.compile(
    r"(^|[\s=:,;(\"'])(?:~[^/\\\s]*|[A-Za-z]:)?[/\\](?=\S)(?:[^/\\,;=:\"']+[/\\]+)*"
)


def without_folders(text: str) -> str:
    """The text with every path cut down to the file's name.

    Examples
    --------
    >>> without_folders("text_file:path=/home/ann/reviews.csv")
    'text_file:path=reviews.csv'
    """
    return _FOLDERS.sub(r"\1", text)
