"""The user's texts on disk while they are audited, so that memory does not grow with them."""

from __future__ import annotations

import tempfile
import weakref
from typing import IO

from attnaudit.core.notices import notice

Text = str | tuple[str, str]
IN_MEMORY = 2**24  # bytes of texts that are kept in memory; those that follow go to a file


class SpooledText:
    """A text, or pair of texts, in the file of a `TextSpool`."""

    __slots__ = ("_first", "_second", "_spool", "_start")

    def __init__(self, spool: TextSpool, start: int, first: int, second: int) -> None:
        self._spool, self._start = spool, start
        self._first, self._second = first, second  # lengths in bytes; -1 if there is no second

    def read(self) -> Text:
        """The text itself."""
        first = self._spool.read(self._start, self._first)
        if self._second < 0:
            return first
        return first, self._spool.read(self._start + self._first, self._second)


class TextSpool:
    """Keeps texts in a temporary file without a name, which goes with this object.

    The first ones, up to `IN_MEMORY` bytes, stay in memory. If there is no room for the file, so
    do the others, with a notice.

    Examples
    --------
    >>> spool = TextSpool(in_memory=0)
    >>> kept = spool.keep(("one", "two"))
    >>> type(kept).__name__, kept.read()
    ('SpooledText', ('one', 'two'))
    """

    def __init__(self, in_memory: int | None = None) -> None:
        self._left = IN_MEMORY if in_memory is None else in_memory
        self._file: IO[bytes] | None = None
        self._end = 0
        self._is_full = False

    def keep(self, text: Text) -> Text | SpooledText:
        """The text, or what reads it again."""
        parts = (text,) if isinstance(text, str) else text
        content = [part.encode("utf-8", "surrogatepass") for part in parts]
        size = sum(map(len, content))
        self._left -= size
        if self._left >= 0 or self._is_full:
            return text
        try:
            if self._file is None:
                # Without a buffer: what a full disk did not take must not be written again later.
                self._file = tempfile.TemporaryFile(prefix="attnaudit-", buffering=0)  # noqa: SIM115
                weakref.finalize(self, self._file.close)
            self._file.seek(self._end)
            left = memoryview(b"".join(content))
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            self._is_full = True
            notice(f"no room for a file with the texts ({error}): they are kept in memory")
            return text
        start, self._end = self._end, self._end + size
        return SpooledText(self, start, len(content[0]), len(content[1]) if content[1:] else -1)

    def read(self, start: int, size: int) -> str:
        """These bytes of the file as text."""
        assert self._file is not None
        self._file.seek(start)
        content = self._file.read(size)
        if len(content) != size:
            raise OSError(f"the temporary file with the texts ends at byte {start + len(content)}")
        return content.decode("utf-8", "surrogatepass")
