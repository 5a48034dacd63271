"""A run is resumable, and its stored summaries give the card again."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from benchmarks.calibration.evaluate import (
    answers_of,
    models_of,
    stored_card,
)
from benchmarks.calibration.outcomes import count_outcomes, tabulate, wilson
from benchmarks.calibration.picture import draw
from benchmarks.calibration.run import CARDS
from benchmarks.calibration.zoo import zoo
from scipy.stats import binomtest


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("calibration")
    for entry in zoo():
        if entry.name in ("right-plain", "inert-3"):
            CARDS.run(entry, made / entry.name, (20,))
    return made


def test_stored_summaries_give_the_stored_card(folder: Path) -> None:
    for model in ("right-plain", "inert-3"):
        stored = json.loads((folder / model / "card_20.json").read_text(encoding="utf-8"))
        assert stored_card(folder / model, 20).as_dict()["verdict"] == stored["verdict"]


def test_what_is_finished_is_not_made_again(folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.glob("right-plain/*")}
    entry = next(entry for entry in zoo() if entry.name == "right-plain")
    CARDS.run(entry, folder / entry.name, (20,))
    assert {path: path.stat().st_mtime_ns for path in folder.glob("right-plain/*")} == before


def test_answers_stand_next_to_their_truth(folder: Path, tmp_path: Path) -> None:
    answers = answers_of(folder).set_index(["question", "model"])
    assert answers.loc[("matters", "inert-3"), "truth"] == "no"
    assert answers.loc[("verdict", "right-plain"), "truth"] == "yes"
    assert answers.loc[("needed", "right-plain"), "truth"] == ""
    assert set(models_of(folder)["model"]) == {"right-plain", "inert-3"}
    errors = tabulate(answers.reset_index())
    assert "needed" not in set(errors["question"])
    draw(errors, tmp_path / "errors.svg", half="all")
    assert "</svg>" in (tmp_path / "errors.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(("count", "total"), [(0, 20), (3, 20), (20, 20), (1, 7)])
def test_wilson_intervals_are_those_of_scipy(count: int, total: int) -> None:
    expected = binomtest(count, total).proportion_ci(method="wilson")
    assert wilson(count, total) == pytest.approx((expected.low, expected.high), abs=1e-6)


def test_outcomes_are_counted_by_truth() -> None:
    pairs = [("yes", "yes")] * 6 + [("no", "yes"), ("cannot tell", "yes")]
    pairs += [("yes", "not yes"), ("no", "no"), ("no", "not yes"), ("partly", "no")]
    counted = count_outcomes([*pairs, ("yes", "open"), ("no", "open")])
    assert (counted["truth_yes"], counted["truth_no"], counted["truth_open"]) == (8, 4, 2)
    assert counted["false_yes"] == 1 / 4
    assert counted["false_no"] == 1 / 8
    assert counted["wrong_of_yes"] == 1 / 7
    assert counted["cannot_tell"] == 1 / 12
    assert counted["partly"] == 1 / 12


def test_the_halves_are_counted_apart() -> None:
    lines = [("a", "fit", "yes", "no"), ("b", "held out", "no", "no"), ("c", "fit", "yes", "")]
    answers = pd.DataFrame(lines, columns=["model", "half", "answer", "truth"])
    errors = tabulate(answers.assign(question="points", texts=20)).set_index("half")
    assert errors["false_yes"].to_dict() == {"fit": 1.0, "held out": 0.0, "all": 0.5}
