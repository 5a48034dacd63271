"""Runs with very few or one-sided test examples are stored and compared, with NaN intervals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attnaudit.results import store
from attnaudit.training.comparisons.runs import compare, compare_values
from attnaudit.training.comparisons.seeds import across_seeds
from attnaudit.training.experiment import make_experiment
from attnaudit.training.runner import run_experiment

TRAIN = [
    ("a good film", "pos", "train"),
    ("a bad film", "neg", "train"),
    ("good and fine", "pos", "train"),
    ("bad and poor", "neg", "train"),
    ("good one", "pos", "dev"),
    ("bad one", "neg", "dev"),
]
TESTS = {
    "one example": [("a fine good film", "pos")],
    "two examples": [("a fine good film", "pos"), ("a poor bad film", "neg")],
    "one class": [("good fine film", "pos"), ("one good film", "pos"), ("a fine film", "pos")],
}


def made(folder: Path, test: str, seed: int = 0) -> Path:
    rows = [*TRAIN, *((text, label, "test") for text, label in TESTS[test])]
    file = folder / "texts.csv"
    file.write_text("text,label,split\n" + "".join(f"{','.join(row)}\n" for row in rows))
    # A rate this small leaves the predictions all one class.
    experiment = make_experiment(
        f"text_file:path={file}",
        encoder="average",
        embedding=4,
        epochs=1,
        learning_rate=1e-9,
        seed=seed,
    )
    return run_experiment(experiment, folder / "runs", show_progress=False)


@pytest.mark.parametrize("test", TESTS)
def test_a_small_test_split_is_audited_stored_and_compared(test: str, tmp_path: Path) -> None:
    runs = [made(tmp_path, test, seed) for seed in (0, 1)]
    performance = json.loads((runs[0] / "run.json").read_text())["performance"]
    results = store.load_results(runs[0])
    lines = results.summary()
    assert performance["accuracy_interval"] is None
    assert lines[["low", "high"]].isna().all(axis=None)
    assert set(lines["interval"]) <= {"withheld: fewer than 10 values", "withheld: no value"}
    assert lines["mean"].notna().any()
    assert "Caution: only" in str(results.card())
    other = store.load_results(runs[1])
    assert "Differences (first − second), paired" in compare(results, other).text(every=True)
    found = compare_values(results, other)
    assert (found["low"].isna() | (found["low"] <= found["difference"])).all()
    assert (across_seeds(runs)["of"] == 2).all()
