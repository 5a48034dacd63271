"""Which column of a table is the text, the label and so on: given, or inferred from its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.reading.option_names import Spelling, in_choice
from attnaudit.data.reading.text_columns import numbered_pairs, text_columns

# A column with the first name wins; of the other names only one may occur.
_COMMON_NAMES = {
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
        "passage",
        "context",
    ),
    "label": ("label", "class", "sentiment", "stars", "rating", "category", "target", "gold_label"),
    "query": ("query", "question", "hypothesis"),
    "evidence": ("evidence", "evidences", "rationale", "rationales"),
    "split": ("split",),
}
_REQUIRED = ("text", "label")
_QUESTIONS = ("query", "question")  # a model of pairs reads these before the text
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Columns:
    """Names of the columns to read. None: inferred from the table's own names; "": no column."""

    text: str | None = None
    label: str | None = None
    query: str | None = None
    evidence: str | None = None
    split: str | None = None

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not (value is None or isinstance(value, str)) or (value == "" and name in _REQUIRED):
                raise InputError(f"{name} must be the name of a column, got {value!r}.")

    def resolved(self, available: Sequence[str], where: str, head: Rows = ()) -> Columns:
        """The same with every omitted column inferred from its name, or an error.

        `head` has the first rows, which show whether another column holds texts.
        """
        infers_texts = self.text is None and self.query is None
        pair = _numbered_pair(available, where, in_choice) if infers_texts else None
        given = replace(self, text=pair[0], query=pair[1]) if pair else self
        chosen = {
            name: _column(name, column, available, where, in_choice)
            for name, column in asdict(given).items()
        }
        if infers_texts:
            _check_one_text(chosen["text"], chosen["query"], available, where, head, in_choice)
        return Columns(**chosen)

    def named(self) -> dict[str, str]:
        """The columns that are read, by what they hold."""
        return {name: value for name, value in asdict(self).items() if value}


@dataclass(frozen=True)
class ModelColumns:
    """Names of the columns that a pretrained model reads. "": no column."""

    text: str
    pair: str
    label: str

    def named(self) -> dict[str, str]:
        """The columns that are read, by what they hold."""
        return {name: value for name, value in asdict(self).items() if value}


def model_columns(
    text: str | None,
    pair: str | None,
    label: str | None,
    available: Sequence[str],
    where: str,
    head: Rows,
    spell: Spelling,
) -> ModelColumns:
    """The columns for a model that has its own tokenizer.

    Labels are optional, and a pair is in the model's order. A second text is inferred only if
    neither text is named: premise and hypothesis, sentence1 and sentence2, question and passage.
    """
    if text == "":
        raise InputError(f"{where}: the text must be the name of a column, got ''.")
    infers_pair = text is None and pair is None
    if infers_pair and (numbered := _numbered_pair(available, where, spell)):
        text, pair = numbered
    elif infers_pair:
        pair = _column("query", None, available, where, spell)
        others = [column for column in available if column != pair]
        text = _column("text", None, others, where, spell)
        if pair.lower() in _QUESTIONS:
            text, pair = pair, text
    else:
        others = [column for column in available if column != pair or column == text]
        text = _column("text", text, others, where, spell)
        pair = _column("query", pair or "", available, where, spell)
    if text == pair:
        raise InputError(f"{where}: {text!r} cannot be both texts of a pair. Name two columns.")
    label = _label_column(label, available, where, spell)
    if infers_pair:
        _check_one_text(text, pair, available, where, head, spell)
    return ModelColumns(text, pair, label)


def column_name(value: Any) -> Any:
    """A column's name as text; a name of digits comes as a number from the command line."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _label_column(given: str | None, available: Sequence[str], where: str, spell: Spelling) -> str:
    """The column of labels; "" if none is given and none has a common name."""
    if given is None and not any(name.lower() in _COMMON_NAMES["label"] for name in available):
        return ""
    return _column("label", given, available, where, spell)


def _numbered_pair(available: Sequence[str], where: str, spell: Spelling) -> tuple[str, str] | None:
    """The one pair of columns such as sentence1 and sentence2; None if there is none."""
    pairs = numbered_pairs(available)
    if len(pairs) > 1:
        first, second = pairs[0]
        listed = ", ".join(f"{a!r} and {b!r}" for a, b in pairs[:5])
        raise InputError(
            f"{where}: several pairs of texts: {listed}. "
            f"Name one: {spell('text', first)} and {spell('query', second)}."
        )
    return pairs[0] if pairs else None


def _check_one_text(
    text: str, query: str, available: Sequence[str], where: str, head: Rows, spell: Spelling
) -> None:
    """Reject a table with another column of texts: the user must say which ones are meant."""
    known = {*_COMMON_NAMES["label"], *_COMMON_NAMES["evidence"], *_COMMON_NAMES["split"]}
    others = [name for name in available if name not in (text, query) and name.lower() not in known]
    more = text_columns(head, others)
    if not more:
        return
    texts = [name for name in available if name in (text, query, *more)]
    second = query or next(name for name in texts if name != text)
    raise InputError(
        f"{where}: several columns hold texts: {_listed(texts)}. Name the one to read, "
        f"{spell('text', text)}, or two that are read together, {spell('text', text)} and "
        f"{spell('query', second)}."
    )


def _column(
    name: str, given: str | None, available: Sequence[str], where: str, spell: Spelling
) -> str:
    """The column that is the text, label and so on: the one given, or inferred; "" if optional."""
    listed = _listed(available)
    if given:
        if list(available).count(given) != 1:
            several = given in available
            problem = "there are several of this name" if several else "it has no such column"
            raise InputError(
                f"{where}: {spell(name, given)}, but {problem}. Its columns: {listed}."
            )
        return given
    if given == "":
        return ""
    common = _COMMON_NAMES[name]
    candidates = [column for column in available if column.lower() in common]
    candidates = [column for column in candidates if column.lower() == common[0]] or candidates
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        first, second = candidates[:2]
        pair = (
            f" To read two texts together, write {spell('text', first)} and "
            f"{spell('query', second)}."
            if name == "text" and first != second
            else ""
        )
        raise InputError(
            f"{where}: {_listed(candidates)} could each be the {name}. "
            f"Name the one with {spell(name, 'COLUMN')}. Its columns: {listed}.{pair}"
        )
    if name in _REQUIRED:
        raise InputError(
            f"{where}: no column is called {', '.join(common)}, so which is the {name}? "
            f"Name it with {spell(name, 'COLUMN')}. Its columns: {listed}."
        )
    return ""


def _listed(names: Sequence[str]) -> str:
    """Names for a message; they come from the data, so number and length are limited."""
    more = ", …" if len(names) > 20 else ""
    return ", ".join(repr(name[:60]) for name in names[:20]) + more or "none"
