"""The tables of docs/card.md and the rates that the card states of itself."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from benchmarks.calibration.document import BEGIN, END, write_document
from benchmarks.calibration.evaluate import rates_of_verdict
from benchmarks.calibration.outcomes import tabulate

from attnaudit.results.questions import RULES
from attnaudit.results.reliability import FILE, reliability

ROOT = Path(__file__).parents[2]


@pytest.fixture
def answers() -> pd.DataFrame:
    """Per question ten faithful models, four of them yes, and twenty others, one of them yes."""
    lines = [("yes", "yes")] * 4 + [("partly", "yes")] * 6 + [("no", "no")] * 19 + [("yes", "no")]
    frame = pd.DataFrame(lines, columns=["answer", "truth"]).assign(half="held out", texts=50)
    return pd.concat([frame.assign(question=each) for each in ("verdict", "matters", "points")])


def test_what_stands_between_the_marks_is_replaced(answers: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "card.md"
    path.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    write_document(answers, tabulate(answers), path)
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{BEGIN}\n")
    assert text.endswith(f"{END}\nafter\n")
    assert "old" not in text
    assert "| 50 | faithful (10) | 4 | 6 | 0 | 0 |" in text
    assert "| 50 | not faithful (20) | 1 | 0 | 19 | 0 |" in text
    assert "| verdict | 50 | 1 of 20: 5.0 % [1, 24] | 0 of 10: 0.0 % [0, 28] | 20 % | 0 % |" in text


def test_the_card_states_the_worst_rates_of_the_held_out_half(answers: pd.DataFrame) -> None:
    better = answers[answers["answer"] != answers["truth"].map({"no": "yes"})].assign(texts=200)
    rates = rates_of_verdict(tabulate(pd.concat([better, answers])))
    assert rates["rules"] == RULES
    assert (rates["false_yes"]["rate"], rates["false_yes"]["texts"]) == (0.05, 50)
    assert rates["false_yes"]["cases"] == 20


def test_the_rates_in_the_package_are_those_of_these_rules() -> None:
    stored = json.loads((ROOT / "src/attnaudit/results" / FILE).read_text(encoding="utf-8"))
    assert stored["rules"] == RULES
    errors = pd.read_csv(ROOT / "benchmarks/calibration/results/errors.csv")
    assert rates_of_verdict(errors) == stored
    assert "says yes wrongly in" in reliability(RULES)
    assert reliability(RULES - 1) == ""
