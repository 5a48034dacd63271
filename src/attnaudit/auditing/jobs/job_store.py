"""The files of a job: small, each written whole or not at all, on a disk or in an object store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from attnaudit.core import temporary
from attnaudit.core.errors import InputError, OutputError
from attnaudit.core.notices import notice
from attnaudit.core.output_files import check_writable, whole_file


class JobStore:
    """A folder of files by name, such as "parts/00003.parquet".

    Parameters
    ----------
    address : a path, or an address that fsspec knows, such as s3://bucket/job; several processes
        and machines may write to it.
    alone : only this process uses it. Files that cannot be written, for want of room, are then
        kept in memory, so that the work can be finished.
    is_temporary : whether it goes with this process.

    Examples
    --------
    >>> store = JobStore("memory://example-job")
    >>> store.write("parts/00000.parquet", b"values")
    >>> store.names("parts")
    {'00000.parquet'}
    """

    def __init__(
        self, address: str | Path, *, alone: bool = False, is_temporary: bool = False
    ) -> None:
        import fsspec

        self._alone, self.is_temporary = alone, is_temporary
        self._unwritten: dict[str, bytes] = {}
        try:
            if "://" in str(address):
                self._files, self._root = fsspec.core.url_to_fs(str(address))
            else:  # whatever a folder is called: fsspec would read more into a::b
                self._files, self._root = fsspec.filesystem("file"), str(Path(address).absolute())
        except (ValueError, ImportError) as error:
            raise InputError(
                f"Cannot open {address}: {error}. Give a folder, or an address of a file "
                "system that fsspec has a package for."
            ) from error
        # Files on a disk are renamed into place; an object store shows an object when it is whole.
        self.local = Path(self._root) if _is_named(self._files, "file") else None
        # A worker may be in another folder, so a path is given to it from the root.
        self.address = str(address) if self.local is None else str(self.local)

    def check_shared(self) -> None:
        """Reject a place that other processes cannot see."""
        if _is_named(self._files, "memory"):
            raise InputError(
                f"Workers cannot see {self.address}, which is in the memory of one process. Give "
                "a folder or an object store that all of them can write to, or use one worker."
            )

    def prepare(self) -> None:
        """Make the folder, and check that it can be written to."""
        if self.local is not None:
            check_writable(self.local)

    def write(self, name: str, content: bytes) -> None:
        """Write a file, whole or not at all; one of the same name is replaced."""
        if self.local is None:
            self._files.pipe_file(f"{self._root}/{name}", content)
            return
        path = self.local / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as draft:
                draft.write_bytes(content)
        except OSError as error:
            if not isinstance(error, OutputError):
                error = OutputError(
                    error.errno, f"Cannot make the folder {path.parent}: {error.strerror}"
                )
            if not self._alone:
                raise error from None
            if not self._unwritten:
                notice(
                    f"{error} What is done from here is kept in memory: an interruption would "
                    "lose it"
                )
            self._unwritten[name] = content

    def read(self, name: str) -> bytes:
        """The content of a file; FileNotFoundError if there is none."""
        if name in self._unwritten:
            return self._unwritten[name]
        return self._files.cat_file(f"{self._root}/{name}")

    def names(self, folder: str) -> set[str]:
        """The names of the whole files in a folder of the job; empty if there is none."""
        self._files.invalidate_cache()
        try:
            listed = self._files.ls(f"{self._root}/{folder}", detail=False)
        except FileNotFoundError:
            listed = []
        names = {path.rstrip("/").rpartition("/")[2] for path in listed}
        prefix = f"{folder}/"
        names |= {name[len(prefix) :] for name in self._unwritten if name.startswith(prefix)}
        return {name for name in names if not temporary.is_temporary(Path(name))}

    def remove(self, name: str) -> None:
        """Remove a file or folder of the job; nothing if it is not there."""
        for unwritten in [address for address in self._unwritten if address.startswith(name)]:
            del self._unwritten[unwritten]
        path = f"{self._root}/{name}"
        if self._files.exists(path):
            self._files.rm(path, recursive=True)

    def remove_if_empty(self) -> None:
        """Remove the folder itself, unless it holds anything but drafts of a killed process."""
        if self.local is None:
            return
        with suppress(OSError):
            for path in self.local.iterdir():
                if temporary.is_temporary(path):
                    path.unlink()
            self.local.rmdir()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let no other process work on the job; where there are no locks, both do the same work.

        Raises
        ------
        InputError
            If another process has it.
        """
        if self.local is None:
            yield
            return
        with temporary.held_at_once(self.local) as is_ours:
            if not is_ours:
                raise InputError(
                    f"Another process is writing {self.address}. Wait until it has finished, or "
                    "give another --out."
                )
            yield


def _is_named(files: Any, name: str) -> bool:
    """Whether a file system of fsspec has this name among its own."""
    names = files.protocol
    return name in ((names,) if isinstance(names, str) else names)
