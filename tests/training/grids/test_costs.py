"""Estimates: what finished runs took, scaled by examples and epochs."""

from __future__ import annotations

from typing import Any

import pytest

from attnaudit.training.grids.costs import (
    AUDIT_SECONDS,
    START_SECONDS,
    TRAINING_SECONDS,
    UNKNOWN_SIZES,
    Costs,
)
from attnaudit.training.grids.ledger import CellList, ListedCell
from attnaudit.training.grids.schedule import Schedule
from attnaudit.training.grids.status import CellStatus, remaining


def choices(dataset: str = "keyword", encoder: str = "average", **more: Any) -> dict[str, Any]:
    return {"dataset": dataset, "encoder": encoder, "recipe": {"epochs": 4}, **more}


def finished(training: float, audit: float, **chosen: Any) -> dict[str, Any]:
    """run.json of a run with 100 training and 50 test texts that stopped after 2 epochs."""
    return {
        "choices": choices(**chosen),
        "data": {"sizes": {"train": 100, "dev": 10, "test": 50}},
        "training": {"dev": [0.5, 0.6]},
        "seconds": {"training": training, "audit": audit},
    }


def test_a_run_like_a_finished_one_takes_as_long_per_example_and_epoch() -> None:
    costs = Costs()
    costs.learn(finished(6.0, 5.0))
    # 4 epochs of 100 examples at 6 s / 200, and 50 texts at 5 s / 50.
    assert costs.of_run(choices()) == (pytest.approx(12.0 + 5.0), "measured")
    assert costs.of_run(choices(sample=10)) == (pytest.approx(12.0 + 1.0), "measured")
    assert costs.of_run(choices(other_seeds=2)) == (pytest.approx(36.0 + 5.0), "measured")
    # Another dataset with the same encoder: the same rates, its own sizes.
    other = costs.of_run(choices("babi:task=1,train=1000,test=100"))
    assert other == (pytest.approx(0.03 * 4000 + 10.0), "measured")


def test_the_median_counts_and_the_same_dataset_comes_first() -> None:
    costs = Costs()
    for seconds in (2.0, 6.0, 600.0):
        costs.learn(finished(seconds, 5.0))
    costs.learn(finished(2000.0, 5.0, dataset="babi"))
    assert costs.of_run(choices()).seconds == pytest.approx(12.0 + 5.0)


def test_other_audits_or_encoders_are_not_taken_for_measured() -> None:
    costs = Costs()
    costs.learn(finished(6.0, 5.0, audits=["agreement"]))
    assert costs.of_run(choices()).source == "defaults"
    assert costs.of_run(choices(encoder="cnn", audits=["agreement"])).source == "defaults"
    assert costs.of_run(choices(audits=["agreement"])).source == "measured"


def test_without_runs_the_stated_defaults_are_used() -> None:
    sizes = "keyword:train=1000,test=100"
    expected = 4000 * TRAINING_SECONDS["average"] + 100 * AUDIT_SECONDS + START_SECONDS
    assert Costs().of_run(choices(sizes)).seconds == pytest.approx(expected)
    unknown = Costs().of_run(choices("sst")).seconds
    assert unknown == pytest.approx(
        4 * UNKNOWN_SIZES["train"] * TRAINING_SECONDS["average"]
        + UNKNOWN_SIZES["test"] * AUDIT_SECONDS
        + START_SECONDS
    )


def test_an_intervention_takes_what_it_took_before() -> None:
    costs = Costs()
    guess = costs.of_intervention("seeds:count=3", choices())
    assert guess == (pytest.approx(2 * costs.of_run(choices()).seconds), "defaults")
    costs.learn_intervention("seeds:count=3", choices(), 40.0)
    assert costs.of_intervention("seeds:count=3", choices()) == (40.0, "measured")


def test_time_left_is_shared_by_the_workers_and_no_less_than_the_longest_cell() -> None:
    costs = Costs()
    costs.learn(finished(6.0, 5.0))  # a cell like it takes 17 s
    cells = tuple(ListedCell(name, name, choices()) for name in "abcd")
    states = (
        CellStatus("a", "a", "done"),
        CellStatus("b", "b", "running", 7.0),
        CellStatus("c", "c", "waiting"),
        CellStatus("d", "d", "failed"),
    )
    assert remaining(CellList(cells, 1, 0.0), states, costs)[0] == pytest.approx(10.0 + 17.0)
    assert remaining(CellList(cells, 9, 0.0), states, costs)[0] == pytest.approx(17.0)
    ended = (states[0], states[3])
    assert remaining(CellList(cells[:2], 1, 0.0), ended, costs) == (None, "measured")


def test_cells_that_others_work_on_come_last() -> None:
    cells = [ListedCell(name, name, {}) for name in "abc"]
    schedule = Schedule(cells, (), is_busy=lambda name: name == "a")
    assert [cell.name for cell in schedule.ready()] == ["b", "c", "a"]


def test_an_intervention_waits_for_its_base_and_is_lost_with_it() -> None:
    cells = [
        ListedCell("plain", "", {}),
        ListedCell("base", "", {}),
        ListedCell("twin", "", {}, "uniform", "base"),
        ListedCell("ready", "", {}, "uniform", "finished before"),
    ]
    schedule = Schedule(cells, ("finished before",))
    assert [cell.name for cell in schedule.ready()] == ["base", "plain", "ready"]
    assert [cell.name for cell in schedule.end("base", succeeded=False)] == ["twin"]
    assert len(schedule) == 0
