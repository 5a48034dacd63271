"""Which parts of a benchmark are run."""

from __future__ import annotations

from collections.abc import Iterable


def matching(only: str, names: Iterable[str]) -> list[str]:
    """The names that hold the word, in small or capital letters; it is an error if none does."""
    names = list(names)
    found = [name for name in names if only.lower() in name.lower()]
    if not found:
        raise SystemExit(f"Nothing is called {only!r}. Choose from: {', '.join(names)}.")
    return found
