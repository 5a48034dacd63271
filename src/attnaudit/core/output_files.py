"""Single files: written whole or not at all, and never over a file that attnaudit did not write."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from attnaudit.core.errors import InputError, OutputError
from attnaudit.core.temporary import held, token

GENERATOR = '<meta name="generator" content="attnaudit">'  # in the head of every page we write
MANIFEST = ".attnaudit-files.json"  # in a folder of figures or tables: the name and the SHA-256 of each file we wrote
_HEAD = 4096  # bytes of a page that hold its mark


def check_writable(folder: Path) -> None:
    """Make a folder and try to write to it: fail before the long work, not after it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".write-test-{token()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise InputError(
            f"Cannot write to {folder}: {error.strerror}. Give another folder with --out, or make this one writable."
        ) from error


def check_file(path: Path, *, kind: str = "page") -> None:
    """Reject a path at which a `kind` would replace something that attnaudit did not write, or that is no file."""
    path = Path(path)
    if path.is_dir():
        raise InputError(
            f"{path} is a folder; the {kind} is one file. Name it, for example {path / f'{kind}.html'}."
        )
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(
            f"Cannot write the {kind} to {path}: {error.strerror}. Give another name with --out."
        ) from error
    if stat.S_ISLNK(mode) and path.exists():
        mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        raise InputError(
            f"{path} is a device, a pipe or a broken link. The {kind} is written to a regular file: give another name with --out."
        )
    if not _is_ours(path):
        raise InputError(
            f"{path} exists and was not written by attnaudit, or was changed since; it is left as it is. "
            f"Give the {kind} another name with --out, or move the file."
        )


def write_file(
    path: Path, content: str | bytes | Callable[[Path], None], *, kind: str = "page"
) -> Path:
    """Write a page, figure or table whole or not at all. content: the text, the bytes, or a function that fills the path it is given."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            error.errno, f"Cannot make the folder {path.parent}: {error.strerror}"
        ) from error
    with held(path.parent), whole_file(path) as draft:
        if callable(content):
            content(draft)
        else:
            draft.write_bytes(
                content if isinstance(content, bytes) else content.encode("utf-8", "replace")
            )
        if not _same(path, draft):
            check_file(path, kind=kind)
        _record(path, draft)
    return path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path to write to, which takes the place of `path` when the block has ended well; nothing is left of it otherwise."""
    target = path.resolve()  # a link stays a link
    draft = target.with_name(f".{target.name[:100]}.{token()}")
    try:
        yield draft
        sync(draft)
        draft.replace(target)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(error.errno, f"Cannot write {path}: {error.strerror or error}") from error
    finally:
        draft.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """On the disk, not only in its cache: or a power cut may leave a whole name on half a file."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _is_ours(path: Path) -> bool:
    """A page by its mark; another file by its entry in the folder's manifest, as long as it is unchanged."""
    with path.open("rb") as stream:
        if GENERATOR.encode() in stream.read(_HEAD):
            return True
    return _manifest(path.parent).get(path.name) == sha256(path)


def _same(path: Path, draft: Path) -> bool:
    """Several writers of the same runs write the same bytes: whoever comes last changes nothing."""
    return (
        path.is_file()
        and path.stat().st_size == draft.stat().st_size
        and sha256(path) == sha256(draft)
    )


def _record(path: Path, draft: Path) -> None:
    with draft.open("rb") as stream:
        if GENERATOR.encode() in stream.read(_HEAD):
            return
    known = {**_manifest(path.parent), path.name: sha256(draft)}
    with whole_file(path.parent / MANIFEST) as manifest:
        manifest.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _manifest(folder: Path) -> dict[str, str]:
    try:
        known = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
