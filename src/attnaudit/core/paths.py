"""Paths in texts that are stored or shared: a file is called by its name, not by its folders."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

# An absolute path, or one from a home folder, at the start of the text or after a separator, up to
# its last part.
_FOLDERS = re.compile(
    r"(^|[\s=:,;(\"'])(?:~[^/\\\s]*|[A-Za-z]:)?[/\\](?=\S)(?:[^/\\,;=:\"']+[/\\]+)*"
)


def without_folders(text: str) -> str:
    """Cut every absolute path in a text to the name of its file.

    Examples
    --------
    >>> without_folders("text_file:path=/home/ann/reviews.csv")
    'text_file:path=reviews.csv'
    """
    return _FOLDERS.sub(r"\1", text)


def file_name(value: Any) -> Any:
    """The last part of an absolute path; anything else is returned as it is.

    Examples
    --------
    >>> file_name("/home/ann/reviews.csv"), file_name("data/reviews.csv"), file_name(3)
    ('reviews.csv', 'data/reviews.csv', 3)
    """
    if isinstance(value, str) and Path(value).expanduser().is_absolute():
        return Path(value).name
    return value
