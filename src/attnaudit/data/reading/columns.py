"""Which column of a table is the text, the label and so on: named by the user, or inferred from its own name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.reading.option_names import Spelling, in_choice
from attnaudit.data.reading.text_columns import numbered_pairs, text_columns

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
        "passage",
        "context",
    ),
    "label": ("label", "class", "sentiment", "stars", "rating", "category", "target", "gold_label"),
    "query": ("query", "question", "hypothesis"),
    "evidence": ("evidence", "evidences", "rationale", "rationales"),
    "split": ("split",),
}
_NEEDED = ("text", "label")
_ASKS = ("query", "question")  # a model of pairs reads these before the text
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Columns:
    """Names of columns. None: to be inferred from the names there are; "": there is none."""

    text: str | None = None
    label: str | None = None
    query: str | None = None
    evidence: str | None = None
    split: str | None = None

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not (value is None or isinstance(value, str)) or (value == "" and name in _NEEDED):
                raise InputError(f"{name} must be the name of a column, got {value!r}.")

    def settled(self, there: Sequence[str], where: str, head: Rows = ()) -> Columns:
        """With every column that was not named inferred from its name, or an error that lists the columns.

        `head` are the first rows, which show whether a further column holds texts.
        """
        pair = (
            _numbered_pair(there, where, in_choice)
            if self.text is None and self.query is None
            else None
        )
        named = replace(self, text=pair[0], query=pair[1]) if pair else self
        chosen = {
            name: _column(name, given, there, where, in_choice)
            for name, given in asdict(named).items()
        }
        if self.text is None and self.query is None:
            _check_one_text(chosen["text"], chosen["query"], there, where, head, in_choice)
        return Columns(**chosen)

    def told(self) -> dict[str, str]:
        return {name: value for name, value in asdict(self).items() if value}


@dataclass(frozen=True)
class ModelColumns:
    """The columns a pretrained model reads. "": there is none."""

    text: str
    pair: str
    label: str

    def named(self) -> dict[str, str]:
        return {name: value for name, value in asdict(self).items() if value}


def model_columns(
    text: str | None,
    pair: str | None,
    label: str | None,
    there: Sequence[str],
    where: str,
    head: Rows,
    spell: Spelling,
) -> ModelColumns:
    """The columns for a model that has its own tokenizer: labels are optional, and a pair is in the model's order.

    A second text is inferred only if neither text is named: premise and hypothesis, sentence1 and sentence2,
    question and passage.
    """
    if text == "":
        raise InputError(f"{where}: the text must be the name of a column, got ''.")
    infers_pair = text is None and pair is None
    if infers_pair and (numbered := _numbered_pair(there, where, spell)):
        text, pair = numbered
    elif infers_pair:
        pair = _column("query", None, there, where, spell)
        rest = [each for each in there if each != pair]
        text = _column("text", None, rest, where, spell)
        if pair.lower() in _ASKS:
            text, pair = pair, text
    else:
        text = _column(
            "text", text, [each for each in there if each != pair or each == text], where, spell
        )
        pair = _column("query", pair or "", there, where, spell)
    if text == pair:
        raise InputError(f"{where}: {text!r} cannot be both texts of a pair. Name two columns.")
    label = _label_column(label, there, where, spell)
    if infers_pair:
        _check_one_text(text, pair, there, where, head, spell)
    return ModelColumns(text, pair, label)


def _label_column(given: str | None, there: Sequence[str], where: str, spell: Spelling) -> str:
    """The column of labels, or "" where none is named and none is called like it."""
    if given is None and not any(each.lower() in _USUAL["label"] for each in there):
        return ""
    return _column("label", given, there, where, spell)


def column_name(value: Any) -> Any:
    """Names of columns that look like numbers come as numbers from the command line."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _numbered_pair(there: Sequence[str], where: str, spell: Spelling) -> tuple[str, str] | None:
    pairs = numbered_pairs(there)
    if len(pairs) > 1:
        first, second = pairs[0]
        raise InputError(
            f"{where}: several pairs of texts: {', '.join(f'{a!r} and {b!r}' for a, b in pairs[:5])}. "
            f"Name one: {spell('text', first)} and {spell('query', second)}."
        )
    return pairs[0] if pairs else None


def _check_one_text(
    text: str, query: str, there: Sequence[str], where: str, head: Rows, spell: Spelling
) -> None:
    """Reject a table with a further column of texts: which ones are meant is for the user to say."""
    known = {*_USUAL["label"], *_USUAL["evidence"], *_USUAL["split"]}
    others = [each for each in there if each not in (text, query) and each.lower() not in known]
    more = text_columns(head, others)
    if not more:
        return
    texts = [each for each in there if each in (text, query, *more)]
    second = query or next(each for each in texts if each != text)
    raise InputError(
        f"{where}: several columns hold texts: {_listed(texts)}. Name the one to read, "
        f"{spell('text', text)}, or two that are read together, {spell('text', text)} and "
        f"{spell('query', second)}."
    )


def _column(name: str, given: str | None, there: Sequence[str], where: str, spell: Spelling) -> str:
    listed = _listed(there)
    if given:
        if list(there).count(given) != 1:
            found = "there are several of this name" if given in there else "it has no such column"
            raise InputError(f"{where}: {spell(name, given)}, but {found}. Its columns: {listed}.")
        return given
    if given == "":
        return ""
    usual = _USUAL[name]
    fits = [each for each in there if each.lower() in usual]
    best = [each for each in fits if each.lower() == usual[0]] or fits
    if len(best) == 1:
        return best[0]
    if best:
        two = f"{spell('text', best[0])} and {spell('query', best[1])}"
        pair = (
            f" To read two texts together, write {two}."
            if name == "text" and best[0] != best[1]
            else ""
        )
        raise InputError(
            f"{where}: {_listed(best)} could each be the {name}. "
            f"Name the one with {spell(name, 'COLUMN')}. Its columns: {listed}.{pair}"
        )
    if name in _NEEDED:
        raise InputError(
            f"{where}: no column is called {', '.join(usual)}, so which is the {name}? "
            f"Name it with {spell(name, 'COLUMN')}. Its columns: {listed}."
        )
    return ""


def _listed(names: Sequence[str]) -> str:
    """Names as they are read from the data, so neither their number nor their length is known."""
    return (
        ", ".join(repr(each[:60]) for each in names[:20]) + (", …" if len(names) > 20 else "")
        or "none"
    )
