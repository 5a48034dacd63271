"""Folders of results: written whole or not at all, and never over anything that is not ours."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from attnaudit.core import temporary
from attnaudit.core.errors import InputError, OutputError
from attnaudit.core.folder_marks import CORPUS_AUDIT, is_written_by_us, mark_of
from attnaudit.core.interruption import completed
from attnaudit.core.notices import notice
from attnaudit.core.output_files import check_writable, sync

# Errors after which the results are written elsewhere: no room, or no permission.
_CANNOT_WRITE = (
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
    errno.EIO,
)
_TAKEN = (errno.ENOTEMPTY, errno.EEXIST)  # renaming to a folder that has something in it

Keep = Callable[[Path, Path], bool]


def check_folder(folder: Path, *, replace: bool = False, protected: Iterable[Path] = ()) -> None:
    """Reject, before any work, a folder in which results would endanger the user's files.

    Parameters
    ----------
    folder : Path
        A new or empty folder, or one with results of ours.
    replace : bool
        Allow results of ours to be replaced (`--force`).
    protected : iterable of Path
        The model and the data: neither they nor a folder that contains them may be the output.
    """
    place = Path(folder).resolve()
    if place.exists() and not place.is_dir():
        raise InputError(f"{folder} is a file; results are a folder. Give another name with --out.")
    here, home = Path.cwd(), _home()
    if place in (here, home) or place in here.parents or place in home.parents:
        raise InputError(
            f"{folder} is the folder you are in, your home folder, or one that contains them. "
            "Results get a folder of their own: "
            f"give one with --out, for example {place / 'audit'}."
        )
    for path in protected:
        other = Path(path).resolve()
        if place == other or place in other.parents:
            raise InputError(
                f"{folder} contains {path}, which is an input. "
                "Results get a folder of their own: give another with --out."
            )
    if place.parent.is_dir():
        temporary.tidy(place.parent)
    if place.is_dir() and any(place.iterdir()):
        if mark_of(place) is None:
            raise InputError(
                f"{folder} is not empty and contains no results of attnaudit; nothing in it is "
                "touched. Give a new or empty folder with --out."
            )
        if not replace:
            raise InputError(
                f"{folder} holds results already. Give another folder with --out, "
                "or --force to replace them (force=True in Python)."
            )
    check_writable(place.parent)


def write_folder(
    folder: Path,
    write: Callable[[Path], None],
    *,
    replace: bool = False,
    was_free: bool = False,
    keep: Keep | None = None,
) -> Path:
    """Write results to a draft and move it into place when everything is on the disk.

    The old folder stays until then. The user's files in it move to the new one. If there is no
    room, the results are written to the system's temporary folder, and the error says where.

    Parameters
    ----------
    folder : Path
    write : callable
        ``write(draft)`` writes the results into the folder `draft`.
    replace : bool
        Allow results of ours to be replaced.
    was_free : bool
        `check_folder` accepted the folder before the work. If another process has filled it since,
        the results are kept next to it, and the error says where.
    keep : callable, optional
        ``keep(old, draft)`` decides whether a corpus audit in the old folder moves to the new one;
        if omitted, it is removed and named in a notice.
    """
    if not was_free:
        check_folder(folder, replace=replace)
    place = Path(folder).resolve()
    draft = place.parent / temporary.draft_name()
    try:
        draft.mkdir()
        with temporary.held(draft):
            write(draft)
            _sync_all(draft)
            with temporary.held(place.parent):  # one process at a time
                _move_into_place(draft, place, replace=replace, keep=keep)
    except OSError as error:
        if error.errno not in _CANNOT_WRITE:
            raise
        raise _rescue(place, write, error) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    completed.append(Path(folder))
    return Path(folder)


def set_aside(folder: Path) -> Path:
    """Rename a folder without readable results that is in the way of a run; nothing is removed."""
    other = _rename_to_free_name(folder, folder, "damaged")
    notice(f"{folder} holds no results that can be read; it was moved to {other.name}")
    return other


def _rename_to_free_name(folder: Path, place: Path, word: str) -> Path:
    """Rename a folder to the first free of PLACE.WORD-1, PLACE.WORD-2, …"""
    number = 1
    while True:
        other = place.with_name(f"{place.name}.{word}-{number}")
        if not other.exists() and _rename(folder, other):
            return other
        number += 1


def _rename(folder: Path, target: Path) -> bool:
    """False if the target is not an empty folder."""
    try:
        folder.rename(target)
    except OSError as error:
        if error.errno not in _TAKEN:
            raise
        return False
    return True


def _move_into_place(draft: Path, place: Path, *, replace: bool, keep: Keep | None) -> None:
    with suppress(OSError):
        place.rmdir()  # if it is empty
    if not place.exists() and _rename(draft, place):
        sync(place.parent)
        return
    if not replace or mark_of(place) is None:
        other = _rename_to_free_name(draft, place, "other")
        completed.append(other)
        raise OutputError(
            errno.EEXIST,
            f"{place} was filled by another process meanwhile and is left as it is. "
            f"These results are complete, in {other}",
        )
    removed = _carry_over(place, draft, keep)
    old = place.with_name(temporary.replaced_name(place.name))
    with temporary.held(place):
        with suppress(OSError):
            os.utime(place)  # where there are no locks, its age says that it is in use
        place.rename(old)
        try:
            draft.rename(place)
        except BaseException:  # an interruption too
            if not place.exists():
                old.rename(place)
            raise
        sync(place.parent)
        shutil.rmtree(old, ignore_errors=True)
    if removed:
        notice(
            f"removed with the old results of {place.name}, which they belong to: "
            f"{', '.join(removed)}"
        )


def _carry_over(old: Path, draft: Path, keep: Keep | None) -> list[str]:
    """Copy the user's files and the corpus audits to keep; return the names of the others."""
    removed = []
    for path in sorted(old.iterdir()):
        if (draft / path.name).exists() or is_written_by_us(path, old):
            continue
        is_folder = path.is_dir() and not path.is_symlink()
        if is_folder and _is_corpus_audit(path) and not (keep is not None and keep(path, draft)):
            removed.append(path.name)
        elif is_folder:
            shutil.copytree(path, draft / path.name, symlinks=True)
        else:
            shutil.copy2(path, draft / path.name, follow_symlinks=False)
    return removed


def _is_corpus_audit(folder: Path) -> bool:
    """Findings about the run they are in; any other folder, such as another run, is kept."""
    return (folder / CORPUS_AUDIT).is_file() and mark_of(folder) is not None


def _sync_all(folder: Path) -> None:
    for path in (*folder.rglob("*"), folder):
        if not path.is_symlink() and (path.is_file() or path.is_dir()):
            sync(path)


def _rescue(place: Path, write: Callable[[Path], None], error: OSError) -> OutputError:
    """Write the results to the system's temporary folder, and return the error that says so."""
    reason = f"Cannot write {place}: {error.strerror or error}"
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
            f"{reason}. The results could not be kept elsewhere either: "
            "make room and run the command again",
        )
    completed.append(rescued)
    return OutputError(
        error.errno,
        f"{reason}. The results are complete and were kept in {rescued}: "
        f"make room, then move that folder to {place}",
    )


def _home() -> Path:
    try:
        return Path.home().resolve()
    except RuntimeError:  # a user without a home folder
        return Path("/")
