"""The JSON files of a model folder, read as objects before transformers sees them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError

_LFS = b"version https://git-lfs"
_LARGEST = 2**28  # bytes; the largest vocabularies take a tenth of it


def read_object(path: Path) -> dict[str, Any]:
    """The object in a JSON file; {} if there is no such file."""
    if not path.is_file():
        return {}
    reject_pointer(path)
    if path.stat().st_size > _LARGEST:
        raise InputError(
            f"{path} has {path.stat().st_size} bytes; expected a JSON file of at most {_LARGEST}. {SAVE_AGAIN}"
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


SAVE_AGAIN = (
    "Save the model again: model.save_pretrained(folder) and tokenizer.save_pretrained(folder)."
)


def reject_pointer(path: Path) -> None:
    """A repository cloned without git-lfs holds a few lines of text in place of each large file."""
    with path.open("rb") as file:
        if file.read(len(_LFS)) == _LFS:
            raise InputError(
                f"{path} is a git-lfs pointer, not the file itself. Run git lfs pull in {path.parent}."
            )


def in_one_line(error: object) -> str:
    """The message of a library: it may quote the folder's files, so control characters are left out."""
    text = " ".join(str(error).split())
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text[:300] or type(error).__name__


def values_of(value: Any, key: str) -> list[Any]:
    """Every value under this key, at any depth, that is not null."""
    found: list[Any] = []
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            found += [each[key]] if each.get(key) is not None else []
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return found


def _kind(value: Any) -> str:
    return {list: "a list", str: "a string", type(None): "null", bool: "true or false"}.get(
        type(value), "a number"
    )
