"""The JSON file that marks a folder as complete, and the checksums in it.

Each folder of results has one such file: run.json, intervention.json or corpus_audit.json. It is
written last, lists every other file with its size and SHA-256, and holds a checksum of itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.core.folder_marks import MARKS
from attnaudit.core.output_files import sha256, whole_file
from attnaudit.core.temporary import is_temporary


def write_mark(path: Path, content: dict[str, Any]) -> None:
    """Write the file that completes a folder.

    Parameters
    ----------
    path : of the JSON file; all other files of its folder must be written already.
    content : what it says, without `files` and `checksum`, which are added.
    """
    others = sorted(file for file in path.parent.iterdir() if file.is_file() and file != path)
    known = {key: value for key, value in content.items() if key not in ("files", "checksum")}
    files = {file.name: {"bytes": file.stat().st_size, "sha256": sha256(file)} for file in others}
    whole = json_safe({**known, "files": files})
    write_json(path, {**whole, "checksum": _checksum(whole)})


def read_mark(path: Path) -> dict[str, Any]:
    """What `write_mark` wrote; rejected if it is damaged.

    Files of versions before checksums are accepted without them.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"{path} cannot be read ({str(error)[:200]}). Make the results again."
        ) from error
    if not isinstance(content, dict):
        raise InputError(
            f"{path} is damaged: expected a JSON object, got {type(content).__name__}. "
            "Make the results again."
        )
    if "checksum" in content or "files" in content:
        rest = {key: value for key, value in content.items() if key != "checksum"}
        if content.get("checksum") != _checksum(rest) or not isinstance(content.get("files"), dict):
            raise InputError(
                f"{path} was changed or damaged after it was written: its checksum does not match. "
                f"Make the results again, or restore {path.parent} from an undamaged copy."
            )
    return content


def check_files(folder: Path, details: dict[str, Any], names: Iterable[str]) -> None:
    """Reject files that are missing, or that differ from what the folder's mark lists.

    Parameters
    ----------
    folder : of the files.
    details : what `read_mark` returned; without checksums in it, only presence is checked.
    names : the files to check.
    """
    listed = details.get("files", {})
    for name in names:
        path = folder / name
        if not path.is_file():
            raise InputError(f"{folder} has lost {name}. Run it again with --force.")
        if name in listed and _differs(path, listed[name]):
            raise InputError(
                f"{path} is damaged: its checksum is not the one that was stored with it. "
                "Run it again with --force, or restore the file from an undamaged copy."
            )


def verify_folder(folder: Path) -> str:
    """Compare every file of a folder of results with its checksum.

    Returns
    -------
    "whole (7 files)", "damaged: …", or "cannot be verified: …" for results of a version without
    checksums.
    """
    try:
        mark = read_mark(next(folder / name for name in MARKS if (folder / name).is_file()))
    except InputError as error:
        return f"damaged: {error}"
    if "files" not in mark:
        version = mark.get("versions", {}).get("attnaudit", "of an early version")
        return f"cannot be verified: attnaudit {version} kept no checksums"
    damaged = [name for name, listed in mark["files"].items() if _differs(folder / name, listed)]
    return (
        f"damaged: {', '.join(damaged)}" if damaged else f"whole ({len(mark['files']) + 1} files)"
    )


def find_results(folders: Iterable[Path]) -> list[Path]:
    """Every folder of results (runs and findings) among the given folders and below them."""
    results: list[Path] = []
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"There is no directory {folder}.")
        marked = {path.parent for name in MARKS for path in folder.rglob(name)}
        finished = sorted(
            place for place in marked if not any(map(is_temporary, (place, *place.parents)))
        )
        if not finished:
            raise InputError(f"{folder} holds no results of attnaudit: there is nothing to verify.")
        results += finished
    return results


def write_json(path: Path, content: Any) -> None:
    """Write JSON, completely or not at all."""
    with whole_file(path) as draft:
        text = json.dumps(json_safe(content), indent=1, ensure_ascii=False)
        draft.write_text(text + "\n", encoding="utf-8")


def json_safe(content: Any) -> Any:
    """The same with NaN and infinity, which JSON does not have, as None.

    Examples
    --------
    >>> json_safe({"mean": float("nan"), "ends": (0.5, float("inf"))})
    {'mean': None, 'ends': [0.5, None]}
    """
    if isinstance(content, dict):
        return {str(key): json_safe(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [json_safe(value) for value in content]
    if isinstance(content, float) and content - content != 0:
        return None
    return content


def _differs(path: Path, listed: Any) -> bool:
    try:
        return (
            not isinstance(listed, dict)
            or path.stat().st_size != listed.get("bytes")
            or sha256(path) != listed.get("sha256")
        )
    except OSError:
        return True


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
