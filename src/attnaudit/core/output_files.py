"""Single files: written whole or not at all, and never over a file that attnaudit did not write."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from attnaudit.core.errors import InputError, OutputError
from attnaudit.core.temporary import draft_name, held, tidy

GENERATOR = '<meta name="generator" content="attnaudit">'  # in the head of every page we write
# In a folder of figures or tables: the name and the SHA-256 of each file we wrote.
MANIFEST = ".attnaudit-files.json"
_HEAD = 4096  # bytes of a page that contain GENERATOR


def check_writable(folder: Path) -> None:
    """Create a folder and try to write to it, so that a failure comes before the long work."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / draft_name()
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise InputError(
            f"Cannot write to {folder}: {error.strerror}. "
            "Give another folder, or make this one writable."
        ) from error


def check_file(path: Path, *, kind: str = "page", option: str = "--out") -> None:
    """Reject a path where a `kind` would replace anything but a file that attnaudit wrote.

    The errors name the option of the command line that names the file.
    """
    path = Path(path)
    try:
        mode = _mode(path)
        ours = mode is None or (stat.S_ISREG(mode) and _is_ours(path))
    except OSError as error:
        raise InputError(
            f"Cannot write the {kind} to {path}: {error.strerror}. Give another name with {option}."
        ) from error
    if mode is None:
        return
    if stat.S_ISDIR(mode):
        raise InputError(
            f"{path} is a folder; the {kind} is one file. "
            f"Name it, for example {path / f'{kind}.html'}."
        )
    if not stat.S_ISREG(mode):
        raise InputError(
            f"{path} is a device, a pipe or a broken link. The {kind} is written to a regular "
            f"file: give another name with {option}."
        )
    if not ours:
        raise InputError(
            f"{path} exists and was not written by attnaudit, or was changed since; it is left "
            f"as it is. Give the {kind} another name with {option}, or move the file."
        )


def write_file(
    path: Path,
    content: str | bytes | Callable[[Path], None],
    *,
    kind: str = "page",
    option: str = "--out",
) -> Path:
    """Write a page, figure or table whole or not at all; `check_file` protects what is there.

    Parameters
    ----------
    path : Path
        Its folder is created if necessary.
    content : str, bytes or callable
        The text, the bytes, or a function that writes to the path it is given.
    kind : str
        The word for the file in error messages.
    option : str
        The option of the command line that names the file, for the same.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            error.errno, f"Cannot make the folder {path.parent}: {error.strerror}"
        ) from error
    with held(path.parent):
        tidy(path.parent)
        with whole_file(path) as draft:
            if callable(content):
                content(draft)
            else:
                draft.write_bytes(
                    content if isinstance(content, bytes) else content.encode("utf-8", "replace")
                )
            if not _is_same(path, draft):
                check_file(path, kind=kind, option=option)
        # After the file, not before: if we are killed in between, the same content may be
        # written again, while the old file would no longer match its entry.
        _record(path)
    return path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a draft that replaces `path` when the block succeeds and is removed when it fails."""
    target = path.resolve()  # a link stays a link
    draft = target.with_name(draft_name())
    try:
        yield draft
        sync(draft)
        draft.replace(target)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(error.errno, f"Cannot write {path}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):  # a read-only file system, where there is no draft
            draft.unlink(missing_ok=True)


@contextmanager
def recovery_advice(kept: str) -> Iterator[None]:
    """Add to an error of writing what holds of everything else, and how to go on.

    Parameters
    ----------
    kept : str
        A sentence about what was written before, such as "The runs are unchanged."

    Examples
    --------
    >>> with recovery_advice("The runs are unchanged."):
    ...     raise OutputError(28, "Cannot write page.html: No space left on device")
    Traceback (most recent call last):
        ...
    attnaudit.core.errors.OutputError: Cannot write page.html: No space left on device. The runs \
are unchanged. Make room or give another place, then run the same command again.
    """
    try:
        yield
    except OutputError as error:
        raise OutputError(
            error.errno,
            f"{error} {kept} Make room or give another place, then run the same command again.",
        ) from error


def sync(path: Path) -> None:
    """Flush a file or folder to the disk, so that a power cut cannot leave half a file."""
    if os.name == "nt":
        if path.is_dir():
            return  # Windows cannot open folders
        flags = os.O_RDWR  # and flushes only what is open for writing
    else:
        flags = os.O_RDONLY
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    except OSError:
        if not path.is_dir():  # some file systems cannot flush folders
            raise
    finally:
        os.close(handle)


def sha256(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def is_our_page(path: Path) -> bool:
    """Is this a page that attnaudit wrote?"""
    with path.open("rb") as stream:
        return GENERATOR.encode() in stream.read(_HEAD)


def _mode(path: Path) -> int | None:
    """The file's type, through links; the link's own if it is broken; None if nothing is there."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        pass
    try:
        return path.lstat().st_mode
    except FileNotFoundError:
        return None


def _is_ours(path: Path) -> bool:
    """A page has the generator tag; another file is in the folder's manifest and unchanged."""
    return is_our_page(path) or _manifest(path.parent).get(path.name) == sha256(path)


def _is_same(path: Path, draft: Path) -> bool:
    """Writers of the same runs write the same bytes: the last one changes nothing."""
    return (
        path.is_file()
        and path.stat().st_size == draft.stat().st_size
        and sha256(path) == sha256(draft)
    )


def _record(path: Path) -> None:
    """Enter a file in the manifest of its folder; a page identifies itself."""
    if is_our_page(path):
        return
    entries = {**_manifest(path.parent), path.name: sha256(path)}
    with whole_file(path.parent / MANIFEST) as draft:
        draft.write_text(json.dumps(entries, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _manifest(folder: Path) -> dict[str, str]:
    try:
        entries = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}
