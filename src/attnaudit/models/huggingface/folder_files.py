"""Read the JSON files of a model folder, before transformers does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError

SAVE_AGAIN = (
    "Save the model again: model.save_pretrained(folder) and tokenizer.save_pretrained(folder)."
)
_LFS = b"version https://git-lfs"
_MAX_BYTES = 2**28  # the largest vocabularies take a tenth of it


def read_object(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; {} if there is no such file."""
    if not path.is_file():
        return {}
    reject_pointer(path)
    if path.stat().st_size > _MAX_BYTES:
        raise InputError(
            f"{path} has {path.stat().st_size} bytes; expected a JSON file of at most "
            f"{_MAX_BYTES}. {SAVE_AGAIN}"
        )
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError) as error:  # JSON and UTF-8 errors are ValueErrors
        raise InputError(
            f"{path} is not a JSON file ({in_one_line(error)}). {SAVE_AGAIN}"
        ) from error
    if not isinstance(value, dict):
        raise InputError(f"{path} must hold a JSON object, got {_kind(value)}. {SAVE_AGAIN}")
    return value


def reject_pointer(path: Path) -> None:
    """Reject a git-lfs pointer, which a clone without git-lfs holds in place of a large file."""
    with path.open("rb") as file:
        if file.read(len(_LFS)) == _LFS:
            raise InputError(
                f"{path} is a git-lfs pointer, not the file itself. Run git lfs pull in "
                f"{path.parent}."
            )


def in_one_line(error: object) -> str:
    """Return a library's message in one line, without control characters.

    It may quote the folder's files.
    """
    text = " ".join(str(error).split())
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text[:300] or type(error).__name__


def values_of(value: Any, key: str) -> list[Any]:
    """Return every value under this key, at any depth, that is not null."""
    values: list[Any] = []
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            values += [part[key]] if part.get(key) is not None else []
            pending += part.values()
        elif isinstance(part, list):
            pending += part
    return values


def _kind(value: Any) -> str:
    """Name the type of a JSON value that is not an object."""
    return {list: "a list", str: "a string", type(None): "null", bool: "true or false"}.get(
        type(value), "a number"
    )
