"""Faults that were once there, each with the smallest example that showed it."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from attnaudit import audit, statistics
from attnaudit.core.errors import InputError
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.results.gate import check_conditions, met
from attnaudit.statistics.inference import length_matched
from attnaudit.training.checkpoint import audited_batches
from attnaudit.training.comparisons.performance import compare_performance
from attnaudit.training.comparisons.runs import compare_values
from attnaudit.training.experiment import make_experiment
from attnaudit.training.runner import run_experiment
from finished_runs import edit_run


def test_one_value_has_no_interval_and_one_text_decides_nothing() -> None:
    found = statistics.bootstrap(torch.tensor([0.7]))
    assert float(found.estimate) == pytest.approx(0.7)
    assert math.isnan(found.low)
    holes = statistics.bootstrap(torch.tensor([[0.9, 1.0]] + [[math.nan, 2.0]] * 9))
    assert torch.isnan(holes.low).tolist() == [True, False]
    card = audit(Glass("inert"), glass_batch(1), show_progress=False).card()
    assert {answer.answer for answer in card.answers} == {"cannot tell"}
    assert "one example was audited" in card.cautions[0]


def test_few_different_lengths_are_matched_one_by_one() -> None:
    a, b = np.repeat([5, 6], [80, 21]), np.repeat([5, 6], [20, 80])
    (found,) = length_matched(a[:, None].astype(float), a, b[:, None].astype(float), b)
    assert found.estimate == pytest.approx(0)


def test_a_class_that_a_resample_lacks_does_not_count_as_missed() -> None:
    labels = torch.arange(30).repeat(2)
    probs = torch.eye(30)[labels]
    f1 = (
        compare_performance(labels, probs, torch.roll(probs, 1, 1))
        .set_index("metric")
        .filter(like="f1", axis=0)
    )
    assert float(f1["difference"].iloc[0]) == pytest.approx(1)
    assert float(f1["low"].iloc[0]) == pytest.approx(1)


def test_the_same_names_for_other_texts_are_not_paired() -> None:
    first = audit(Glass("oracle"), glass_batch(40), show_progress=False)
    batch = glass_batch(41)
    other = replace(batch.rows(torch.arange(1, 41)), example_id=batch.example_id[:40])
    second = audit(Glass("oracle"), other, show_progress=False)
    assert set(compare_values(first, second)["how"]) == {"matched by length"}
    assert set(compare_values(first, first)["how"]) == {"paired"}


def test_a_better_ranking_lies_nearer_to_the_ceiling_also_where_less_is_better() -> None:
    lines = audit(
        Glass("oracle"), glass_batch(60), audits=["flip_fraction"], show_progress=False
    ).summary("1")
    relative = lines[lines["metric"] == "removed"].set_index("measure")["relative"]
    assert relative["random"] == pytest.approx(0)
    assert relative["smallest_set"] == pytest.approx(1)
    assert relative["attention"] > 0.9


def test_a_gate_that_nothing_can_close_is_rejected_and_options_are_understood() -> None:
    with pytest.raises(InputError, match="which is no number"):
        check_conditions("permutation/tvd_median<nan")
    results = audit(
        Glass("oracle"), glass_batch(30), audits=["furthest:epsilon=0.05"], show_progress=False
    )
    assert met(results, "furthest:epsilon=0.05/jsd>0")
    assert met(results, "furthest/jsd>0")
    assert not met(results, "furthest:epsilon=0.05/jsd<0")


def test_a_run_that_names_foreign_data_is_not_read_without_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = make_experiment(
        "keyword:train=20,dev=4,test=8",
        epochs=1,
        audits=("uniform_attention",),
        measures=("random",),
    )
    folder = run_experiment(cell, tmp_path, show_progress=False)
    (tmp_path / "evil_data.py").write_text("raise SystemExit('code ran')")
    monkeypatch.syspath_prepend(tmp_path)
    edit_run(folder, lambda details: details["choices"].update(dataset="evil_data:go"))
    with pytest.raises(InputError, match="Loading would run it"):
        audited_batches(folder)
    edit_run(
        folder, lambda details: details["choices"].update(dataset="keyword", base="../elsewhere")
    )
    with pytest.raises(InputError, match="no name of a run in the same folder"):
        audited_batches(folder)


def test_examples_needed_counts_those_without_a_value() -> None:
    results = audit(Glass("oracle"), glass_batch(40), audits=["permutation"], show_progress=False)
    line = results.summaries["metric"] == "tvd_median"
    halved = results.summaries.assign(nan_share=np.where(line, 0.5, results.summaries["nan_share"]))
    before = results.examples_needed(0.1).set_index("metric").loc["tvd_median", "needed"]
    after = (
        replace(results, summaries=halved)
        .examples_needed(0.1)
        .set_index("metric")
        .loc["tvd_median", "needed"]
    )
    assert after == 2 * before
    assert isinstance(halved, pd.DataFrame)
