"""Attention rows are named by layer and head, and their mean stands for the example."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attnaudit.auditing.audit import audit
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.models.huggingface import from_huggingface
from attnaudit.report.column_view import Columns
from attnaudit.results.results import Results
from attnaudit.results.rows import (
    EVERY_ROW,
    are_heads,
    has_several_rows,
    mean_by_example,
    mean_over_rows,
    one_line_per_metric,
    row_name,
    row_names,
)
from attnaudit.training.comparisons.runs import compare_values
from tiny_transformers import TEXTS, tiny


def test_names_that_are_stored_are_used() -> None:
    about = {
        "rows": 2,
        "row_names": ["layer 5 head 0", "layer 5 head 7"],
        "model": {"layers": [0, 1], "heads": [0]},
    }
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
    assert names[by_row].unique().tolist() == [
        f"layer {layer} head {head}" for layer in (0, 2) for head in (1, 3)
    ]
    one = audit(Glass("oracle"), glass_batch(5), audits=["permutation"], show_progress=False)
    assert one.row_name(0) == "row 0"


# The mean over rows, and the line that stands for an example --------------------------------------


@pytest.fixture(scope="module")
def several_rows() -> Results:
    model = from_huggingface(*tiny("bert"), layers=[0, 2], heads=[1, 3])
    return audit(
        model, TEXTS, audits=["agreement"], measures=["gradient", "random"], show_progress=False
    )


@pytest.mark.parametrize("rows", [1, 2, 7, 36])
def test_the_mean_over_rows_is_the_same_from_a_tensor_an_array_and_a_long_table(rows: int) -> None:
    draw = np.random.default_rng(rows)
    values = draw.normal(size=(50, rows))
    values[draw.random(values.shape) < 0.2] = np.nan
    values[3] = np.nan
    expected = [
        part[~np.isnan(part)].mean() if not np.isnan(part).all() else np.nan for part in values
    ]
    np.testing.assert_allclose(mean_over_rows(torch.from_numpy(values)).numpy(), expected)
    np.testing.assert_allclose(mean_over_rows(values), expected)
    shuffled = draw.permutation(values.size)
    example = np.repeat(np.arange(50), rows)[shuffled]
    np.testing.assert_allclose(mean_by_example(example, values.ravel()[shuffled], 50), expected)


def test_summary_charts_and_comparisons_agree_on_the_mean_over_rows(several_rows: Results) -> None:
    stored = several_rows.mean("agreement", "tau", "gradient")
    by_example = Columns(several_rows.columns)("agreement", "gradient", "tau")
    assert by_example is not None
    assert np.nanmean(by_example) == pytest.approx(stored)
    compared = compare_values(several_rows, several_rows).set_index(["measure", "metric", "row"])
    assert compared.loc[("gradient", "tau", EVERY_ROW), "first"] == pytest.approx(stored)


def test_one_line_stands_for_a_metric_everywhere(several_rows: Results) -> None:
    lines = one_line_per_metric(several_rows.summaries)
    assert not lines.duplicated(["audit", "measure", "metric", "group"]).any()
    overall = lines[lines["group"] == "all"].set_index(["audit", "measure", "metric"])
    assert overall.loc[("agreement", "gradient", "tau"), "row"] == EVERY_ROW
    several = has_several_rows(several_rows.summaries)
    assert set(lines.loc[several, "row"]) == {EVERY_ROW}
    assert set(lines.loc[~several, "row"]) <= {0}
    for (name, measure, metric), line in overall.iterrows():
        read = several_rows.line(name, metric, measure)
        assert read is not None
        assert read["row"] == line["row"]
    for answer in several_rows.card().answers:
        for finding in answer.findings:
            name, _, rest = finding.name.rpartition("/")
            metric, _, measure = rest.partition("@")
            assert finding.value == overall.loc[(name, measure, metric), "mean"]


def test_the_mean_over_rows_is_read_and_not_the_first_row(several_rows: Results) -> None:
    rows = (
        several_rows.summary()
        .query("measure == 'gradient' and metric == 'tau'")
        .set_index("row")["mean"]
    )
    mean = several_rows.mean("agreement", "tau", "gradient")
    assert mean == pytest.approx(rows.drop(EVERY_ROW).mean())
    assert abs(rows[0] - rows[EVERY_ROW]) > 1e-3
