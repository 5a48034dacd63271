"""Which column of a table is the text, the label and so on: named by the user, or told by its own name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from attnaudit.errors import InputError

# The first name of each wins; of the others there must be only one.
_USUAL = {
    "text": (
        "text",
        "review",
        "sentence",
        "content",
        "document",
        "comment",
        "body",
        "tweet",
        "message",
        "premise",
    ),
    "label": ("label", "class", "sentiment", "stars", "rating", "category", "target", "gold_label"),
    "query": ("query", "question", "hypothesis"),
    "evidence": ("evidence", "evidences", "rationale", "rationales"),
    "split": ("split",),
}
_NEEDED = ("text", "label")


@dataclass(frozen=True)
class Columns:
    """Names of columns. None: to be told by the names there are; "": there is none."""

    text: str | None = None
    label: str | None = None
    query: str | None = None
    evidence: str | None = None
    split: str | None = None

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not (value is None or isinstance(value, str)) or (value == "" and name in _NEEDED):
                raise InputError(f"{name} must be the name of a column, got {value!r}.")

    def settled(self, there: Sequence[str], where: str) -> Columns:
        """With every column that was not named told by its name, or an error that lists the columns."""
        return Columns(**{name: _column(name, given, there, where) for name, given in asdict(self).items()})

    def told(self) -> dict[str, str]:
        return {name: value for name, value in asdict(self).items() if value}


def label_column(given: str | None, there: Sequence[str], where: str) -> str:
    """The column of labels, or "" where none is named and none looks like it: labels are optional in an audit."""
    if given is None and not any(each.lower() in _USUAL["label"] for each in there):
        return ""
    return _column("label", given, there, where)


def column_name(value: Any) -> Any:
    """Names of columns that look like numbers come as numbers from the command line."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _column(name: str, given: str | None, there: Sequence[str], where: str) -> str:
    listed = ", ".join(map(repr, there[:30])) or "none"
    if given:
        if there.count(given) != 1:
            found = "there are several of this name" if given in there else "it has no such column"
            raise InputError(f"{where}: {name}={given!r}, but {found}. Its columns: {listed}.")
        return given
    if given == "":
        return ""
    usual = _USUAL[name]
    fits = [each for each in there if each.lower() in usual]
    best = [each for each in fits if each.lower() == usual[0]] or fits
    if len(best) == 1:
        return best[0]
    if best:
        raise InputError(
            f"{where}: {', '.join(map(repr, best))} could each be the {name}. Name the one with {name}=COLUMN. Its columns: {listed}."
        )
    if name in _NEEDED:
        raise InputError(
            f"{where}: no column is called {', '.join(usual)}, so which is the {name}? Name it with {name}=COLUMN. "
            f"Its columns: {listed}."
        )
    return ""
