"""Faults that were once there, each with the smallest example that showed it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from attnaudit import audit, statistics
from attnaudit.audits import AUDITS
from attnaudit.audits.corpus.mutual_information import mutual_information
from attnaudit.audits.permutation import reach
from attnaudit.core.contract import Batch
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.measures import MEASURES
from attnaudit.models import Architecture, build
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.results.gate import check_conditions, met
from attnaudit.training.checkpoint import audited_batches
from attnaudit.training.comparisons.performance import compare_performance
from attnaudit.training.comparisons.runs import compare_values
from attnaudit.training.experiment import make_experiment
from attnaudit.training.runner import run_experiment
from finished_runs import edit_run


def _batch(count: int = 24) -> Batch:
    draw = np.random.default_rng(0)
    texts = [[1, *draw.integers(5, 60, 12).tolist(), 2] for _ in range(count)]
    tokens = torch.tensor(texts)
    return Batch(tuple(map(str, range(count))), tokens, tokens > 0)


@pytest.mark.parametrize("measure", ["gradient", "attention_gradient", "input_times_gradient"])
def test_gradients_of_a_sure_model_are_the_same_in_float32(measure: str) -> None:
    """At a gap of 16 between the logits the slope of softmax itself keeps neither size nor direction."""
    parts = Architecture(encoder="bilstm:hidden=8", embedding=12)
    model = build(parts, words=60, classes=3, with_query=False, seed=1).eval()
    batch = _batch()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
        gap = model.read(batch).logits.sort(-1).values.diff(dim=-1)[:, -1].median()
        for parameter in model.output.parameters():
            parameter.mul_(16 / gap)
    single = MEASURES[measure](model, model.read(batch), 0)
    double = MEASURES[measure](model.double(), model.read(batch), 0)
    mask = model.read(batch).content
    x, y = (score if score.dim() == 2 else score[:, 0] for score in (single, double))
    tau = statistics.kendall(x.double(), y, mask)[0]
    assert tau.min() > 0.95


def test_one_text_decides_nothing() -> None:
    card = audit(Glass("inert"), glass_batch(1), show_progress=False).card()
    assert {answer.answer for answer in card.answers} == {"cannot tell"}
    assert "one example was audited" in card.cautions[0]


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


def test_with_three_classes_a_mixture_may_move_the_prediction_further_than_any_item() -> None:
    model = build(
        Architecture(encoder="none", embedding=4), words=60, classes=3, with_query=False, seed=0
    ).eval()
    record = model.read(_batch(1))
    assert reach(record).tolist() == [1.0]


def test_a_gate_that_nothing_can_close_is_refused_and_options_are_understood() -> None:
    with pytest.raises(InputError, match="which is no number"):
        check_conditions("permutation/tvd_median<nan")
    results = audit(
        Glass("oracle"), glass_batch(30), audits=["furthest:epsilon=0.05"], show_progress=False
    )
    assert met(results, "furthest:epsilon=0.05/jsd>0")
    assert met(results, "furthest/jsd>0")
    assert not met(results, "furthest:epsilon=0.05/jsd<0")


def test_information_of_fewer_texts_than_clusters_is_refused() -> None:
    with pytest.raises(NotApplicable, match="take at least 100"):
        mutual_information(Glass("oracle"), [glass_batch(40)], 0, show_progress=False)


def test_the_interval_of_information_does_not_take_repeats_for_information() -> None:
    """Labels that have nothing to do with each other: halves of them have as little."""
    from attnaudit.audits.corpus.information import adjusted, contingency

    draw = np.random.default_rng(0)
    x, y = draw.integers(0, 50, 1000), draw.integers(0, 5, 1000)
    halves = [draw.permutation(1000)[:500] for _ in range(50)]
    assert abs(np.mean([adjusted(contingency(x[h], y[h])) for h in halves])) < 0.03


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


def test_top_item_and_its_floor_are_of_the_same_examples() -> None:
    parts = Architecture(encoder="bilstm:hidden=8", embedding=12, projection="sparsemax")
    model = build(parts, words=60, classes=2, with_query=False, seed=1).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(4)
        record = model.read(_batch())
        found = AUDITS["top_item"](model, record, {}, 0)
    assert (
        record.alpha == 1
    ).any()  # with all weight on it, nothing is left when the top item goes
    assert torch.equal(found["", "flips_top"].isnan(), found["", "flips_random"].isnan())
    assert found["", "flips_top"].isnan().any()
