"""The ranking of explanations as the page shows it: over all texts, and in every group."""

from __future__ import annotations

from typing import Any

from attnaudit.results.explanation_tests import TESTS
from attnaudit.results.groups import ALL, describe_group
from attnaudit.results.number_formats import MISSING, number
from attnaudit.results.recommendation import seconds_text, spelled
from attnaudit.results.reliability import recommendation_reliability
from attnaudit.results.results import Results

_COLUMNS = {
    "place": "What its top words carry: 0 as random words, 1 as the best words that were found.",
    **{test.key: test.meaning[:1].upper() + test.meaning[1:] + "." for test in TESTS},
    "agreement": "Kendall's tau with leave-one-out: 1 for the same order of the words.",
    "plausibility": "Average precision on the words that are known to decide; what people expect, "
    "not what the model uses.",
}


def explanation_table(results: Results) -> dict[str, Any] | None:
    """What the template shows of the ranking; None if no explanations were compared.

    Returns
    -------
    dict
        columns: (name, meaning) of each; rows: one dict per explanation with the text and the
        interval of each cell, and its answer if it is a test; groups: (name, place of each
        explanation in the same order) of every group of texts; error_rates: how often what is
        recommended by these tests is wrong.
    """
    ranking = results.about.get("explanation_ranking")
    if not ranking:
        return None
    known = [name for name in _COLUMNS if any(row.get(name) is not None for row in ranking)]
    rows = [
        {
            "name": spelled(row["explanation"]),
            "rank": MISSING if row["rank"] is None else row["rank"],
            "tied": [spelled(name) for name in row["tied_with"]],
            "cells": [_cell(row, name) for name in known],
            "passed": f"{row['passed']} of {len(TESTS)}",
            "beats_random": row["beats_random"],
            "fails_for": describe_group(group) if (group := row.get("failing_class")) else "",
            "seconds": MISSING if row["seconds"] is None else seconds_text(row["seconds"]),
        }
        for row in ranking
    ]
    names = [row["explanation"] for row in ranking]
    return {
        "columns": [(name, _COLUMNS[name]) for name in known],
        "rows": rows,
        "groups": _groups(results, names),
        "error_rates": recommendation_reliability(max(row.get("texts", 0) for row in ranking)),
    }


def _cell(row: dict[str, Any], name: str) -> dict[str, str]:
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    interval = "" if low is None or high is None else f"[{number(low, 2)}, {number(high, 2)}]"
    answer = row["tests"].get(name, "")
    return {"value": number(row.get(name), 2), "interval": interval, "answer": answer}


def _groups(results: Results, names: list[str]) -> list[tuple[str, list[str]]]:
    """The place of each explanation in every group but that of all texts."""
    lines = results.summaries
    chosen = lines[(lines["metric"] == "contrast") & lines["audit"].str.startswith("top_words")]
    found = {
        (str(line.group), str(line.measure)): float(line.relative) for line in chosen.itertuples()
    }
    groups = [group for group in dict.fromkeys(chosen["group"].astype(str)) if group != ALL]
    return [
        (describe_group(group), [number(found.get((group, name)), 2) for name in names])
        for group in groups
    ]
