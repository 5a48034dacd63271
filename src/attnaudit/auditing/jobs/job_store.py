"""The files of a job: small, each written whole or not at all, on a disk or in an object store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attnaudit.core import temporary
from attnaudit.core.errors import InputError
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

    Examples
    --------
    >>> store = JobStore("memory://example-job")
    >>> store.write("parts/00000.parquet", b"values")
    >>> store.names("parts")
    {'00000.parquet'}
    """

    def __init__(self, address: str | Path, *, alone: bool = False) -> None:
        import fsspec

        self.address, self._alone = str(address), alone
        self._unwritten: dict[str, bytes] = {}
        try:
            self._files, self._root = fsspec.core.url_to_fs(self.address)
        except (ValueError, ImportError) as error:
            raise InputError(
                f"Cannot open {self.address}: {error}. Give a folder, or an address of a file "
                "system that fsspec has a package for."
            ) from error
        # Files on a disk are renamed into place; an object store shows an object when it is whole.
        self.local = (
            Path(self._root) if self._files.protocol in ("file", ("file", "local")) else None
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
            if not self._alone:
                raise
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

    def has(self, name: str) -> bool:
        """Whether there is a file of this name."""
        return name in self._unwritten or self._files.exists(f"{self._root}/{name}")

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

    def remove(self, folder: str = "") -> None:
        """Remove a folder of the job, or all of it; nothing if it is not there."""
        path = f"{self._root}/{folder}".rstrip("/")
        for name in [each for each in self._unwritten if each.startswith(folder)]:
            del self._unwritten[name]
        if self._files.exists(path):
            self._files.rm(path, recursive=True)

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


def _as_tuple(protocol: str | tuple[str, ...]) -> tuple[str, ...]:
    return (protocol,) if isinstance(protocol, str) else tuple(protocol)
