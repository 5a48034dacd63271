"""The card of a run that an earlier version audited: as stored, by the rules of that version."""

from __future__ import annotations

import json
import math
from dataclasses import fields
from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.results.card import Answer, Card, Finding
from attnaudit.results.questions import ANSWERS, NO, PARTLY, UNKNOWN, YES
from attnaudit.results.verdict import Verdict

RULES = 1
CAUTION = (
    "this card was made by the rules of an earlier version, which could be misled; audit again "
    "for one by the current rules"
)
_STARTS = {"Yes": YES, "Not as": NO, "Not on": PARTLY, "Not by": PARTLY, "Cannot": UNKNOWN}


def read_earlier_card(path: Path) -> dict[str, Any]:
    """card.json of an earlier version, checked; an empty dict if there is none.

    Raises
    ------
    InputError
        If it is damaged.
    """
    if not path.is_file():
        return {}
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        earlier_card(stored)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{path} is damaged ({type(error).__name__}). Run the audit again."
        ) from error
    return dict(stored)


def earlier_card(stored: dict[str, Any]) -> Card:
    """The card that an earlier version stored, marked as such."""
    if not stored:
        sentence = "Cannot tell: this run has no card that the current rules could replace."
        return Card((), (CAUTION,), rules=RULES, stored=Verdict(UNKNOWN, sentence, ""))
    sentence = str(stored["verdict"])
    decision = next(
        (word for start, word in _STARTS.items() if sentence.startswith(start)), UNKNOWN
    )
    return Card(
        answers=tuple(_answer(answer) for answer in stored["questions"]),
        cautions=(CAUTION, *map(str, stored.get("cautions", []))),
        accuracy=str(stored.get("accuracy", "")),
        rules=int(stored.get("rules", RULES)),
        stored=Verdict(decision, sentence, "Next: audit again, for a card by the current rules."),
    )


def _answer(stored: dict[str, Any]) -> Answer:
    if stored["answer"] not in ANSWERS:
        raise ValueError(f"{stored['answer']!r} is no answer")
    return Answer(
        question=str(stored["question"]),
        answer=stored["answer"],
        because=str(stored["because"]),
        findings=tuple(_finding(finding) for finding in stored["findings"]),
        blind=str(stored["blind"]),
        partly=str(stored.get("partly", "")),
    )


def _finding(stored: dict[str, Any]) -> Finding:
    known = {field.name for field in fields(Finding)}
    texts = ("name", "meaning", "note")
    values = {
        key: str(value) if key in texts else math.nan if value is None else float(value)
        for key, value in stored.items()
        if key in known
    }
    return Finding(**values)  # type: ignore[arg-type]  # checked above, by name
