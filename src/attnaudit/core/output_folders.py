"""Folders of results: written whole or not at all, and never over anything that does not carry attnaudit's own mark.

A folder is ours if one of its JSON files says so: run.json, intervention.json or corpus_audit.json with attnaudit among its versions.
"""

from __future__ import annotations

import errno
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from attnaudit.core import temporary
from attnaudit.core.errors import InputError, OutputError
from attnaudit.core.notices import finished, notice
from attnaudit.core.output_files import GENERATOR, MANIFEST, check_writable, sync

MARKS = ("run.json", "intervention.json", "corpus_audit.json")
# What runs written before checksums were kept may hold; later ones list their files in run.json.
_WRITTEN = frozenset({*MARKS, MANIFEST, "values.parquet", "summary.parquet", "examples.parquet", "detail.parquet",
                      "card.json", "model.safetensors", "vocabulary.json", "figure.png"})  # fmt: skip
_NO_ROOM = (
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
    errno.EIO,
)


def mark_of(folder: Path) -> dict[str, Any] | None:
    """The JSON object that makes this folder ours, or None."""
    for name in MARKS:
        try:
            found = json.loads((folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        if (
            isinstance(found, dict)
            and isinstance(versions := found.get("versions"), dict)
            and "attnaudit" in versions
        ):
            return found
    return None


def check_folder(folder: Path, *, replace: bool = False, protected: Iterable[Path] = ()) -> None:
    """Reject, before any work, a folder for results in which something of the user's stands.

    Parameters
    ----------
    replace : results of ours that are there may be replaced (`--force`).
    protected : the model, the data: neither they nor a folder that holds them may be the output.
    """
    place = Path(folder).resolve()
    if place.exists() and not place.is_dir():
        raise InputError(f"{folder} is a file; results are a folder. Give another name with --out.")
    here, home = Path.cwd(), _home()
    if place in (here, home) or place in here.parents or place in home.parents:
        raise InputError(
            f"{folder} is the folder you are in, your home folder, or one that holds them. Results get a folder of their own: "
            f"give one with --out, for example {place / 'audit'}."
        )
    for path in protected:
        other = Path(path).resolve()
        if place == other or place in other.parents:
            raise InputError(
                f"{folder} holds {path}, which is an input. Results get a folder of their own: give another with --out."
            )
    temporary.tidy(place.parent) if place.parent.is_dir() else None
    if place.is_dir() and any(place.iterdir()):
        if mark_of(place) is None:
            raise InputError(
                f"{folder} is not empty and holds no results of attnaudit; nothing in it is touched. "
                "Give a new or empty folder with --out."
            )
        if not replace:
            raise InputError(
                f"{folder} holds results already. Give another folder with --out, or --force to replace them (force=True in Python)."
            )
    check_writable(place.parent)


def write_folder(
    folder: Path, write: Callable[[Path], None], *, replace: bool = False, keep: Callable[[Path, Path], bool] | None = None
) -> Path:  # fmt: skip
    """Fill a folder by `write(draft)` and put it in place when all is on the disk; the old one is there until then.

    Files of the user's in a folder that is replaced move to the new one. keep(old, draft) decides for each corpus audit in it; what is
    removed is named. If there is no room, the results are written to the system's temporary folder, and the error says where.
    """
    check_folder(folder, replace=replace)
    place = Path(folder).resolve()
    draft = place.parent / f"{temporary.DRAFT}{temporary.token()}"
    try:
        draft.mkdir(mode=0o777)
        with temporary.held(draft):
            write(draft)
            _sync_all(draft)
            _swap(draft, place, replace=replace, keep=keep)
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise _rescued(place, write, error) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    finished.append(Path(folder))
    return Path(folder)


def set_aside(folder: Path) -> Path:
    """Move what stands in the way of a run, and is no readable result, to a name next to it; nothing is removed."""
    other = _free_name(folder, "damaged")
    folder.rename(other)
    notice(f"{folder} holds no results that can be read; it was moved to {other.name}")
    return other


def _free_name(folder: Path, word: str) -> Path:
    number = 1
    while (other := folder.with_name(f"{folder.name}.{word}-{number}")).exists():
        number += 1
    return other


def _swap(
    draft: Path, place: Path, *, replace: bool, keep: Callable[[Path, Path], bool] | None
) -> None:
    if not place.exists() or not any(place.iterdir()):
        if place.exists():
            place.rmdir()
        draft.rename(place)
        sync(place.parent)
        return
    if not replace or mark_of(place) is None:  # it came while we worked
        other = _free_name(place, "other")
        draft.rename(other)
        raise InputError(
            f"{place} was filled by another process meanwhile and is left as it is. These results are whole, in {other}."
        )
    removed = _carry_over(place, draft, keep)
    old = place.with_name(f"{temporary.REPLACED}{temporary.token()}-{place.name}")
    with temporary.held(place):
        place.rename(old)
        try:
            draft.rename(place)
        except OSError:
            old.rename(place)
            raise
        sync(place.parent)
        shutil.rmtree(old, ignore_errors=True)
    if removed:
        notice(
            f"removed with the old results of {place.name}, which they belong to: {', '.join(removed)}"
        )


def _carry_over(old: Path, draft: Path, keep: Callable[[Path, Path], bool] | None) -> list[str]:
    """Copy to the draft what is not ours, and our corpus audits that still fit; the names of those that do not."""
    removed = []
    for path in sorted(old.iterdir()):
        if (draft / path.name).exists() or is_written_by_us(path, old):
            continue
        is_folder = path.is_dir() and not path.is_symlink()
        if is_folder and mark_of(path) is not None and not (keep is not None and keep(path, draft)):
            removed.append(path.name)
        elif is_folder:
            shutil.copytree(path, draft / path.name, symlinks=True)
        else:
            shutil.copy2(path, draft / path.name, follow_symlinks=False)
    return removed


def is_written_by_us(path: Path, folder: Path) -> bool:
    """Is this file one that attnaudit wrote into its own folder?"""
    if not path.is_file() or path.is_symlink():
        return False
    listed = (mark_of(folder) or {}).get("files")
    if path.name in _WRITTEN or (isinstance(listed, dict) and path.name in listed):
        return True
    if path.suffix == ".html":
        with path.open("rb") as stream:
            return GENERATOR.encode() in stream.read(4096)
    return False


def _sync_all(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            sync(path)
    sync(folder)


def _rescued(place: Path, write: Callable[[Path], None], error: OSError) -> OutputError:
    """The error to raise: with the results in the system's temporary folder, where there is room for them there."""
    why = f"Cannot write {place}: {error.strerror or error}"
    shelter = None
    try:
        shelter = Path(tempfile.mkdtemp(prefix="attnaudit-"))
        rescued = shelter / place.name
        rescued.mkdir()
        write(rescued)
        _sync_all(rescued)
    except OSError:
        if shelter is not None:
            shutil.rmtree(shelter, ignore_errors=True)
        return OutputError(
            error.errno,
            f"{why}. The results could not be kept elsewhere either: make room and run the command again",
        )
    finished.append(rescued)
    return OutputError(
        error.errno,
        f"{why}. The results are whole and were kept in {rescued}: make room, then move that folder to {place}",
    )


def _home() -> Path:
    try:
        return Path.home().resolve()
    except RuntimeError:  # a user without one
        return Path("/")
