"""Parts of stored results that are read when they are first used."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self


class LazyParts:
    """What results read from a folder are: each part is read once, when it is first used."""

    @classmethod
    def stored(cls, about: dict[str, Any], **read: Callable[[], Any]) -> Self:
        """Results of which each part is read when it is first used.

        Parameters
        ----------
        about : as for the class.
        read : `columns`, `summaries` and `examples`, each a function that reads and checks it.
        """
        results = cls.__new__(cls)
        results.__dict__.update(about=about, _read=read)
        return results

    if not TYPE_CHECKING:  # the class that has the parts declares them

        def __getattr__(self, name: str) -> Any:
            """A part that was not read yet."""
            read = self.__dict__.get("_read", {}).get(name)
            if read is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return self.__dict__.setdefault(name, read())

    def read(self, *parts: str) -> Self:
        """The same results, with these parts read and checked now; all parts if none is named."""
        for part in parts or ("columns", "summaries", "examples"):
            getattr(self, part)
        return self
