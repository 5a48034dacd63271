"""Rates of recommendations and explanations, counted by hand; the tables of the documentation."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from benchmarks.calibration.explanations.document import MARKS, write_tables
from benchmarks.calibration.explanations.outcomes import (
    QUESTIONS,
    explanation_errors,
    recommendation_errors,
    stated_rates,
)
from benchmarks.calibration.explanations.picture import draw
from scipy.stats import binomtest

from attnaudit.results.explanation_tests import TEST_RULES
from attnaudit.results.reliability import RECOMMENDATION_FILE, recommendation_reliability

ROOT = Path(__file__).parents[2]
TABLES = ROOT / "benchmarks/calibration/results"


@pytest.fixture
def chosen() -> pd.DataFrame:
    """Ten models: six right, one wrong, one open, two without; planted: one of five is wrong."""
    lines = [("lime", "yes", "yes", 4)] * 6
    lines += [("lime", "not yes", "yes", 2), ("lime", "open", "open", 4)]
    lines += [("nothing", "", "yes", 0), ("nothing", "", "no", 0)]
    lines = [("the usual ones", *line) for line in lines]
    lines += [("planted ones", "nothing", "", "no", 0)] * 4
    lines += [("planted ones", "one_class", "not yes", "not yes", 3)]
    lines += [("planted ones", "one_class", "open", "open", 3)]
    columns = ["compared", "explanation", "truth", "best", "passed"]
    frame = pd.DataFrame(lines, columns=columns)
    return pd.concat(
        [frame.assign(half=half, texts=200, model="a") for half in ("fit", "held out")]
    )


@pytest.fixture
def answers() -> pd.DataFrame:
    """Drawn scores: one of 20 passes; lime: of 10 faithful ones nine pass and one fails."""
    lines = [("drawn", "no", "no")] * 19 + [("drawn", "yes", "no")]
    lines += [("lime", "yes", "yes")] * 9 + [("lime", "no", "yes"), ("lime", "yes", "open")]
    frame = pd.DataFrame(lines, columns=["explanation", "answer", "truth"])
    frame = frame.assign(half="held out", texts=200, model="a")
    return pd.concat([frame.assign(question=question) for question in QUESTIONS])


def test_recommendations_are_counted_by_the_truth_of_what_is_recommended(
    chosen: pd.DataFrame,
) -> None:
    line = recommendation_errors(chosen).set_index("half").loc["held out"]
    assert (line["wrong_count"], line["wrong_cases"]) == (1, 7)
    assert (line["missed_count"], line["missed_cases"]) == (1, 8)
    assert (line["fooled_count"], line["fooled_cases"]) == (1, 5)
    assert (line["all_tests_wrong_count"], line["all_tests_wrong_cases"]) == (0, 6)
    assert (line["models"], line["recommended"]) == (10, 8)
    expected = binomtest(1, 7).proportion_ci(method="wilson")
    assert (line["wrong_low"], line["wrong_high"]) == pytest.approx(
        (expected.low, expected.high), abs=1e-6
    )


def test_explanations_are_counted_alone_and_together(answers: pd.DataFrame) -> None:
    errors = explanation_errors(answers)
    of = errors[errors["half"] == "held out"].set_index(["explanation", "question"])
    for question in QUESTIONS:
        assert of.loc[("drawn", question), ["false_pass_count", "truth_no"]].tolist() == [1, 20]
        assert of.loc[("lime", question), ["false_fail_count", "truth_yes"]].tolist() == [1, 10]
        assert of.loc[("planted ones", question), "false_pass"] == 0.05
        assert of.loc[("the usual ones", question), "right_pass"] == 0.9


def test_the_stated_rates_are_the_highest_of_the_held_out_half(
    chosen: pd.DataFrame, answers: pd.DataFrame
) -> None:
    better = chosen[chosen["truth"] != "not yes"].assign(texts=50)
    worse = chosen[chosen["half"] == "fit"].assign(texts=20, truth="no")
    rates = stated_rates(
        recommendation_errors(pd.concat([chosen, better, worse])), explanation_errors(answers)
    )
    assert (rates["wrong"]["texts"], rates["wrong"]["cases"]) == (200, 7)
    assert rates["wrong"]["rate"] == round(1 / 7, 4)
    assert rates["drawn"]["rate"] == 0.05
    assert (rates["fooled"]["rate"], rates["fooled"]["cases"]) == (0.2, 5)
    assert rates["rules"] == TEST_RULES


def test_tables_and_picture_are_written(
    chosen: pd.DataFrame, answers: pd.DataFrame, tmp_path: Path
) -> None:
    path = tmp_path / "explanations.md"
    path.write_text(f"before\n{MARKS[0]}\nold\n{MARKS[1]}\nafter\n", encoding="utf-8")
    recommendations, errors = recommendation_errors(chosen), explanation_errors(answers)
    write_tables(chosen, recommendations, errors, path)
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{MARKS[0]}\n")
    assert text.endswith(f"{MARKS[1]}\nafter\n")
    assert "old" not in text
    assert "| 200 | a faithful one (8) | 6 | 0 | 1 | 1 |" in text
    assert "| 200 | none (1) | 0 | 0 | 0 | 1 |" in text
    assert "1 of 7: 14.3 % [3, 51]" in text
    assert "| drawn | 0, 0, 20 | 1 of 20: 5.0 % [1, 24] | – |" in text
    draw(recommendations, errors, tmp_path / "errors.svg")
    assert "</svg>" in (tmp_path / "errors.svg").read_text(encoding="utf-8")
    path.write_text("no marks", encoding="utf-8")
    with pytest.raises(ValueError, match="must have the lines"):
        write_tables(chosen, recommendations, errors, path)


def test_the_rates_in_the_package_are_those_of_the_stored_tables() -> None:
    stored = json.loads((ROOT / "src/attnaudit/results" / RECOMMENDATION_FILE).read_text("utf-8"))
    recommendations = pd.read_csv(TABLES / "recommendation_errors.csv")
    assert stated_rates(recommendations, pd.read_csv(TABLES / "explanation_errors.csv")) == stored
    assert "an explanation recommended so was wrong in" in recommendation_reliability(20)
