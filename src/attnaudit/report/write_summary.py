"""Which files a command wrote, and what it left out and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from attnaudit.core.errors import InputError


@dataclass
class WriteSummary:
    """The files written, and what was left out: (figure or table, its run, the reason)."""

    written: list[Path] = field(default_factory=list)
    skipped: list[tuple[str, str, str]] = field(default_factory=list)

    def skip(self, name: str, source: str, reason: object) -> None:
        """Note that a figure or table was left out."""
        self.skipped.append((name, source, str(reason)))

    def add(self, other: WriteSummary) -> None:
        """Append another summary."""
        self.written += other.written
        self.skipped += other.skipped

    def __str__(self) -> str:
        """The files by folder, then what was left out; runs with the same reason together."""
        lines = []
        for folder in dict.fromkeys(path.parent for path in self.written):
            endings: dict[str, list[str]] = {}
            for path in self.written:
                if path.parent == folder:
                    endings.setdefault(path.stem, []).append(path.suffix.removeprefix("."))
            formats = sorted({",".join(kinds) for kinds in endings.values()})
            lines.append(f"{folder}: {', '.join(endings)} ({'; '.join(formats)})")
        by_reason: dict[tuple[str, str], list[str]] = {}
        for name, source, reason in self.skipped:
            by_reason.setdefault((name, reason), []).append(source)
        if by_reason:
            lines.append("Left out:")
        for (name, reason), sources in by_reason.items():
            where = f"{len(sources)} runs" if len(sources) > 1 else sources[0]
            lines.append(f"  {name} ({where}): {reason}" if where else f"  {name}: {reason}")
        return "\n".join(lines) or "Nothing to write."


def select_names(text: str | None, known: Sequence[str], kind: str) -> list[str]:
    """The names in a comma-separated text, in the order of `known`; all of them for None.

    Examples
    --------
    >>> select_names("png, pdf", ["pdf", "svg", "png"], "format")
    ['pdf', 'png']
    """
    if text is None:
        return list(known)
    names = [name.strip() for name in text.split(",") if name.strip()]
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"There is no {kind} {unknown[0]!r}. Choose from: {', '.join(known)}.")
    if not names:
        raise InputError(f"No {kind} is named. Choose from: {', '.join(known)}.")
    return [name for name in known if name in names]
