"""Stored audits of explanations give the ranking and the recommendation of the product again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.calibration.explanations.answers import answers_of, stored_ranking
from benchmarks.calibration.explanations.outcomes import HALVES
from benchmarks.calibration.explanations.run import EXPLANATIONS as EXPLANATION_JOB
from benchmarks.calibration.zoo import zoo

import attnaudit
from attnaudit.measures import EXPLANATIONS
from attnaudit.results.recommendation import recommended

ENTRIES = {entry.name: entry for entry in zoo()}
MODELS = ("right-plain", "inert-3", "rows-idle-2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("explanations")
    for name in MODELS:
        EXPLANATION_JOB.run(ENTRIES[name], made / name, (30,))
    return made


@pytest.mark.parametrize("name", MODELS)
def test_the_ranking_and_the_recommendation_are_those_of_a_whole_audit(
    folder: Path, name: str
) -> None:
    entry = ENTRIES[name]
    whole = attnaudit.audit(
        entry.make(),
        entry.corpus.texts(30, seed=30, name="audit"),
        explanations="all",
        keep_examples=0,
        show_progress=False,
    )
    stored = json.loads((folder / name / "explanations_30.json").read_text(encoding="utf-8"))
    assert (stored["decision"] == "no") == (whole.card().decision == "no")
    ranking = stored_ranking(folder / name, 30, EXPLANATIONS)
    expected = {row["explanation"]: row for row in whole.about["explanation_ranking"]}
    assert len(ranking) == len(expected) >= 6
    for row in ranking:
        other = expected[row["explanation"]]
        for key in ("rank", "tests", "passed", "beats_random", "texts"):
            assert row[key] == other[key], (row["explanation"], key)
        for key in ("place_low", "place_high", "polarity_high", "stability_low"):
            assert row[key] == pytest.approx(other[key], rel=1e-9, abs=1e-12)
        # What the whole audit measured took its own time.
        row["seconds"] = other["seconds"]
    ours, theirs = (
        recommended(rows, whole.card().decision)
        for rows in (ranking, whole.about["explanation_ranking"])
    )
    assert ours is not None
    assert theirs is not None
    assert ours["explanation"] == theirs["explanation"]


def test_what_is_finished_is_not_made_again(folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.glob("right-plain/*")}
    EXPLANATION_JOB.run(ENTRIES["right-plain"], folder / "right-plain", (30,))
    assert {path: path.stat().st_mtime_ns for path in folder.glob("right-plain/*")} == before


def test_answers_stand_next_to_the_truth_of_their_explanation(folder: Path) -> None:
    answers, chosen = answers_of(folder, HALVES)
    of = answers.set_index(["model", "explanation", "question"])
    assert of.loc[("inert-3", "leave_one_out", "passes"), "truth"] == "yes"
    assert of.loc[("rows-idle-2", "attention", "passes"), "truth"] == "no"
    assert of.loc[("right-plain", "drawn", "shown"), ["truth", "answer"]].tolist() == ["no", "no"]
    of = chosen.set_index(["model", "compared"])
    right = of.loc[("right-plain", "the usual ones")]
    assert (right["truth"], right["best"]) == ("yes", "yes")
    # The weights of this model do not matter: nothing made of attention is recommended.
    inert = of.loc[("inert-3", "the usual ones"), "explanation"]
    assert "attention" not in inert
    assert inert != "nothing"
    assert of.loc[("right-plain", "planted ones"), "best"] in ("no", "not yes")


def test_one_half_can_be_read_alone(folder: Path) -> None:
    _, chosen = answers_of(folder, ("fit",))
    assert set(chosen["model"]) == {name for name in MODELS if ENTRIES[name].half == "fit"}
