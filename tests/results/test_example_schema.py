"""Kept examples survive Parquet: in the order of the ids, with None and NaN as they were."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest

from attnaudit import audit, cite
from attnaudit.data.citations import simulate
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.models.planted_citations import PlantedReader
from attnaudit.results.example_schema import CITATION_COLUMNS, EXAMPLE, kept_column, kept_rows


def row(example_id: str, **changes: Any) -> dict[str, Any]:
    """An example of two words, whose optional fields are empty."""
    return {
        "example_id": example_id,
        "label": -1,
        "predicted": 1,
        "probs": [0.25, 0.75],
        "tokens": ["ein", "🙂"],
        "query": None,
        "evidence": None,
        "attention": [1 / 3, 2 / 3],
        "pair": None,
        "weight_on_marks": None,
        "furthest": None,
        "furthest_jsd": math.nan,
        "furthest_upper": math.nan,
        "furthest_exact": False,
        "readout": None,
        "scores": [],
        "moves": None,
        **changes,
    }


def column(ids: list[str], rows: list[dict[str, Any]]) -> pa.ChunkedArray:
    return pa.chunked_array([kept_column(ids, rows)])


def test_rows_come_back_in_the_order_of_the_ids() -> None:
    rows = [row("b"), row("c", query="why"), row("a", pair=[3, 4])]
    stored = column(["a", "x", "b", "c"], rows)
    assert stored.is_null().to_pylist() == [False, True, False, False]
    back = kept_rows(stored)
    assert [line["example_id"] for line in back] == ["a", "b", "c"]
    assert [line["pair"] for line in back] == [[3, 4], None, None]
    assert [line["query"] for line in back] == [None, None, "why"]


def test_every_field_comes_back_to_the_last_bit() -> None:
    full = row(
        "a",
        label=2,
        query="why",
        evidence=[True, False],
        pair=[0, 7],
        weight_on_marks=[0.1, 0.2],
        furthest=[0.0, 1.0],
        furthest_jsd=1 / 7,
        furthest_upper=1 / 6,
        furthest_exact=True,
        readout=[0.1, -0.2, 0.3, 1e-300],
        scores=[{"measure": "gradient", "values": [1e-17, -0.5]}],
    )
    assert kept_rows(column(["a"], [full])) == [full]


def test_missing_and_undefined_stay_apart() -> None:
    scores = [{"measure": "lime", "values": [math.nan, 0.0]}]
    (back,) = kept_rows(column(["a"], [row("a", scores=scores, weight_on_marks=[math.nan])]))
    assert back["furthest"] is None
    assert math.isnan(back["furthest_jsd"])
    assert math.isnan(back["weight_on_marks"][0])
    values = back["scores"][0]["values"]
    assert math.isnan(values[0])
    assert values[1] == 0.0


def test_no_kept_example_is_a_column_of_nulls() -> None:
    assert kept_rows(column(["a", "b"], [])) == []


def test_a_field_of_another_type_is_rejected() -> None:
    with pytest.raises(pa.ArrowInvalid):
        kept_column(["a"], [row("a", label="positive")])


def test_the_schema_has_the_columns_that_an_audit_keeps() -> None:
    results = audit(Glass("oracle"), glass_batch(4), show_progress=False)
    names = {field.name for field in EXAMPLE}
    assert set(results.examples.columns) == names - set(CITATION_COLUMNS)
    cited = cite(PlantedReader("copier"), simulate(2), show_progress=False)
    # Only if words of the sources are items: tests/models/test_word_items.py.
    assert set(cited.examples.columns) == names - {"source_of_word", "word_level"}
    both = cite(PlantedReader("copier", "both"), simulate(2), show_progress=False)
    assert set(both.examples.columns) == names - {"source_of_word"}
