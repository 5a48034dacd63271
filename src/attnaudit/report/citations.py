"""The page of citations: answers with their sources, shaded by what each measure says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from attnaudit.report.column_view import Columns
from attnaudit.report.inline_data import rounded
from attnaudit.results.questions import CITATION
from attnaudit.results.results import Results

MOST = 100  # answers on a page
NAMES = {
    "attention": "attention, mean of all heads",
    "attention_renormalised": "attention, every head renormalised",
    "calibrated_attention": "attention minus that of an empty question",
    "attention_shuffled": "attention in another order",
    "rollout": "attention rollout",
    "gradient": "input × gradient",
    "surrogate": "surrogate of random sets (Lasso)",
    "leave_one_out": "leave-one-out",
    "random": "random numbers",
}
_TABLE = {
    "right source first": ("evidence", "hit"),
    "used source first": ("source_use", "cited_used"),
    "fall without it": ("top_source", "drop"),
    "LDS": ("lds", "lds"),
    "first place cited": ("source_order", "first"),
}
_WORD_TABLE = {
    "word of a right source first": ("word_evidence", "hit"),
    "used word first": ("word_use", "cited_used"),
    "fall without it": ("top_word", "drop"),
    "LDS": ("word_lds", "lds"),
}
OUTCOMES = {
    "known_without": "known without the sources",
    "unsupported": "not from the sources, and not known",
    "only_together": "used several sources, only together",
    "used_cited": "used the cited source",
    "used_other": "used another source",
}


def is_about_citations(results: Results) -> bool:
    """Whether these are results of `cite`."""
    return results.about.get("card") == CITATION


def citation_data(results: Results) -> dict[str, Any]:
    """What the page shows: a table of measures, counts of outcomes, and answers.

    Returns
    -------
    dict
        answers: a list of dicts; measures: name -> what it is called; table, word_table (empty
        unless both levels were audited) and outcomes; rule: the sentence that says which answers
        are shown.
    """
    columns = Columns(results.columns)
    line_of = {example_id: line for line, example_id in enumerate(columns.ids)}
    shown = results.examples.head(MOST)
    answers = [
        _answer(line, columns, line_of[line.example_id])
        for line in shown.astype(object).itertuples()
    ]
    measures = {
        name: _spelled(name)
        for name in dict.fromkeys(
            [*results.about["measures"], *results.about.get("word_measures", [])]
        )
        if name != "random"
    }
    audited = len(results.columns)
    return {
        "answers": answers,
        "measures": measures,
        "table": [_line(results, name, _TABLE) for name in results.about["measures"]],
        "columns": list(_TABLE),
        "word_table": [
            _line(results, name, _WORD_TABLE) for name in results.about.get("word_measures", [])
        ],
        "word_columns": list(_WORD_TABLE),
        "outcomes": _outcomes(columns),
        "rule": f"All {audited:,} answers are here."
        if len(answers) == audited
        else f"{len(answers):,} of {audited:,} answers are here, the first by their ids.",
    }


def _answer(line: Any, columns: Columns, index: int) -> dict[str, Any]:
    count = len(line.tokens)
    rows = np.asarray(line.attention, dtype=float).reshape(-1, count)
    scores = {"attention": rows.mean(0)}
    for score in line.scores:
        values = np.asarray(score["values"], dtype=float)
        scores[score["measure"]] = values.reshape(-1, count).mean(0)
    per_token = np.asarray(line.answer_attention, dtype=float).reshape(len(line.answer), count)
    gold = None if line.evidence is None else [bool(flag) for flag in line.evidence]
    order = getattr(line, "shuffled_order", None)
    full, closed = (
        _value(columns, ("source_use", "", name), index) for name in ("open_book", "closed_book")
    )
    return {
        "id": line.example_id,
        "question": line.query,
        "answer": list(line.answer),
        "sources": list(line.tokens),
        "gold": gold if gold is None or any(gold) else None,
        "scores": {name: [rounded(value) for value in each] for name, each in scores.items()},
        "per_token": [[rounded(value) for value in row] for row in per_token],
        "source_of_word": _plain(getattr(line, "source_of_word", None)),
        "words": _words(getattr(line, "word_level", None), len(line.answer)),
        "order": _plain(order),
        "open_book": full,
        "closed_book": closed,
        "outcome": _outcome(columns, index, closed),
    }


def _words(level: Any, tokens: int) -> dict[str, Any] | None:
    """The words of all sources with their scores, if both levels were audited.

    tokens: of the answer.
    """
    if not isinstance(level, Mapping):
        return None
    texts = list(level["words"])
    per_token = np.asarray(level["answer_attention"], dtype=float).reshape(tokens, len(texts))
    return {
        "texts": texts,
        "source": _plain(level["source"]),
        "scores": {
            score["measure"]: [rounded(value) for value in score["values"]]
            for score in level["scores"]
        },
        "per_token": [[rounded(value) for value in row] for row in per_token],
    }


def _outcome(columns: Columns, index: int, closed: float | None) -> str:
    """What became of the source with most attention."""
    known = _value(columns, ("source_use", "", "known_without"), index)
    if known is None:  # the audit was not run
        return ""
    if known == 1.0:
        return "known_without" if closed is not None and closed >= 0.5 else "unsupported"
    if _value(columns, ("source_use", "", "only_together"), index) == 1.0:
        return "only_together"
    cited = _value(columns, ("source_use", "attention", "used_cited"), index)
    return "used_cited" if cited is not None and cited > 0.5 else "used_other"


def _outcomes(columns: Columns) -> list[tuple[str, int, str]]:
    """(key, how many answers, in words) of each outcome; empty if source_use was not run."""
    found = [
        _outcome(columns, index, _value(columns, ("source_use", "", "closed_book"), index))
        for index in range(columns.count)
    ]
    if not any(found):
        return []
    return [(key, found.count(key), words) for key, words in OUTCOMES.items()]


def _line(results: Results, measure: str, table: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """One line of a table of measures: per column (mean, low, high), or None."""
    cells = []
    for audit, metric in table.values():
        line = results.line(audit, metric, measure)
        known = line is not None and not math.isnan(line["mean"])
        cells.append(
            (line["mean"], line["low"], line["high"]) if line is not None and known else None
        )
    return {"name": _spelled(measure), "cells": cells}


def _spelled(measure: str) -> str:
    return NAMES.get(measure, measure.replace("named_heads:heads=", "chosen heads "))


def _value(columns: Columns, key: tuple[str, str, str], index: int) -> float | None:
    column = columns(*key)
    return None if column is None else rounded(column[index])


def _plain(numbers: Any) -> list[int] | None:
    """Whole numbers as JSON has them; None if there are none, which pandas may store as NaN."""
    if numbers is None or isinstance(numbers, float):
        return None
    return [int(number) for number in numbers]
