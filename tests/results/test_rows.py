"""Rows of attention are called by layer and head, as the model counts them."""

from __future__ import annotations

from attnaudit.auditing.audit import audit
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.models.huggingface import from_huggingface
from attnaudit.results.rows import EVERY_ROW, are_heads, row_name, row_names
from tiny_transformers import TEXTS, tiny


def test_names_that_are_stored_are_used() -> None:
    about = {"rows": 2, "row_names": ["layer 5 head 0", "layer 5 head 7"], "model": {"layers": [0, 1], "heads": [0]}}  # fmt: skip
    assert row_names(about) == ["layer 5 head 0", "layer 5 head 7"]
    assert row_name(about, 1) == "layer 5 head 7"
    assert row_name(about, EVERY_ROW) == "mean of all rows"
    assert are_heads(about)


def test_older_runs_of_transformers_are_named_by_their_layers_and_heads() -> None:
    about = {"rows": 4, "model": {"layers": [3, 5], "heads": [0, 2]}}
    assert row_names(about) == [
        "layer 3 head 0",
        "layer 3 head 2",
        "layer 5 head 0",
        "layer 5 head 2",
    ]


def test_other_rows_are_counted_from_0_as_the_data_do() -> None:
    for about in (
        {"rows": 2},
        {"rows": 2, "row_names": None, "model": {"heads": "all"}},
        {"rows": 2, "row_names": ["one name too few"]},
        {"rows": 2, "model": {"layers": [0, 1], "heads": [0, 1]}},  # four rows, not two
    ):
        assert row_names(about) == ["row 0", "row 1"]
        assert not are_heads(about)


def test_results_name_the_rows_of_their_frames() -> None:
    model = from_huggingface(*tiny("bert"), layers=[0, 2], heads=[1, 3])
    found = audit(model, TEXTS, audits=["permutation"], measures=["random"], show_progress=False)
    names = found.frame()["row"].map(found.row_name)
    by_row = found.frame()["metric"] == "max_attention"
    assert names[by_row].unique().tolist() == [f"layer {layer} head {head}" for layer in (0, 2) for head in (1, 3)]  # fmt: skip
    one = audit(Glass("oracle"), glass_batch(5), audits=["permutation"], show_progress=False)
    assert one.row_name(0) == "row 0"
