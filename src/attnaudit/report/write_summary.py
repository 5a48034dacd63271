"""What a command wrote, and what it left out and why: said in words, never an error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from attnaudit.core.errors import InputError


@dataclass
class Outcome:
    written: list[Path] = field(default_factory=list)
    skipped: list[tuple[str, str, str]] = field(
        default_factory=list
    )  # (figure or table, of which run, why)

    def skip(self, name: str, source: str, reason: object) -> None:
        self.skipped.append((name, source, str(reason)))

    def __str__(self) -> str:
        """The files by folder, then each thing left out with its reason, runs with the same one together."""
        lines = []
        for folder in dict.fromkeys(path.parent for path in self.written):
            endings: dict[str, list[str]] = {}
            for path in self.written:
                if path.parent == folder:
                    endings.setdefault(path.stem, []).append(path.suffix.removeprefix("."))
            alike = {",".join(kinds) for kinds in endings.values()}
            lines.append(f"{folder}: {', '.join(endings)} ({'; '.join(sorted(alike))})")
        together: dict[tuple[str, str], list[str]] = {}
        for name, source, reason in self.skipped:
            together.setdefault((name, reason), []).append(source)
        if together:
            lines.append("Left out:")
        for (name, reason), sources in together.items():
            where = (
                f" ({len(sources)} runs)"
                if len(sources) > 1
                else f" ({sources[0]})"
                if sources[0]
                else ""
            )
            lines.append(f"  {name}{where}: {reason}")
        return "\n".join(lines) or "Nothing to write."


def chosen(given: str | None, known: Sequence[str], what: str) -> list[str]:
    """ "a,b" -> ["a", "b"] in the order known; everything for None. Unknown names list the choices."""
    if given is None:
        return list(known)
    wanted = [each.strip() for each in given.split(",") if each.strip()]
    if unknown := [each for each in wanted if each not in known]:
        raise InputError(f"There is no {what} {unknown[0]!r}. Choose from: {', '.join(known)}.")
    if not wanted:
        raise InputError(f"No {what} is named. Choose from: {', '.join(known)}.")
    return [each for each in known if each in wanted]
