"""The shortened audit of the calibration gives the card of a whole audit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from benchmarks.calibration.card_audit import CARD_MEASURES, card_audit
from benchmarks.calibration.entry import Entry
from benchmarks.calibration.zoo import zoo

import attnaudit

ENTRIES = {entry.name: entry for entry in zoo()}


def whole_card(entry: Entry, count: int) -> dict[str, object]:
    texts = entry.corpus.texts(count, seed=count, name="audit")
    results = attnaudit.audit(
        entry.make(), texts, measures=CARD_MEASURES, keep_examples=0, show_progress=False
    )
    return results.card().as_dict()


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every text and number of nested dicts and lists, by its path."""
    if isinstance(tree, dict | list | tuple):
        parts = tree.items() if isinstance(tree, dict) else enumerate(tree)
        for name, part in parts:
            yield from leaves(part, f"{path}/{name}")
    else:
        yield path, tree


# A mark, several rows, several classes with a search, no labels.
@pytest.mark.parametrize(
    "name", ["mark-carries-2", "rows-idle-2", "class-inert-of-3", "right-no-labels"]
)
def test_the_card_is_that_of_a_whole_audit(name: str) -> None:
    entry = ENTRIES[name]
    texts = entry.corpus.texts(60, seed=60, name="audit")
    parts = [texts.rows(part) for part in torch.arange(60).split(25)]
    short = dict(leaves(card_audit(entry.make(), parts).card().as_dict()))
    whole = dict(leaves(whole_card(entry, 60)))
    assert len(whole) > 100
    numbers = {path: value for path, value in whole.items() if isinstance(value, float)}
    assert {path: short.pop(path) for path in numbers} == pytest.approx(
        numbers, rel=1e-9, abs=1e-12, nan_ok=True
    )
    assert short == {path: value for path, value in whole.items() if path not in numbers}
